//go:build !unix

package files

import "io/fs"

// Where there are no pipes in directories, nothing blocks.
const nonBlocking = 0

// hasOtherLinks cannot be told here.
func hasOtherLinks(fs.FileInfo) bool { return false }
