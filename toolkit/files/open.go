package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"unicode/utf8"
)

// file is a file as it was read.
type file struct {
	text    string
	version string // SHA-256 of the content, in hexadecimal
	lines   int64
	info    fs.FileInfo
}

func newFile(text string) *file {
	sum := sha256.Sum256([]byte(text))
	return &file{text: text, version: hex.EncodeToString(sum[:]), lines: countLines(text)}
}

// countLines counts lines; a line break at the end does not begin another one.
func countLines(text string) int64 {
	n := int64(strings.Count(text, "\n"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// read returns a regular file of text, whole.
func (w *workspace) read(ctx context.Context, name string) (*file, error) {
	text, info, err := w.load(ctx, name)
	if err != nil {
		return nil, err
	}
	f := newFile(text)
	f.info = info
	return f, nil
}

// load returns the text of a regular file.
func (w *workspace) load(ctx context.Context, name string) (string, fs.FileInfo, error) {
	f, info, err := w.open(name, w.max)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	data, err := w.content(ctx, f, info)
	if err != nil {
		return "", nil, w.failed("read", name, err)
	}
	if int64(len(data)) > w.max {
		return "", nil, w.tooLarge(name, int64(len(data)))
	}
	if what := notText(data); what != "" {
		return "", nil, notShown(name, what, int64(len(data)))
	}
	return string(data), info, nil
}

// content reads at most one byte more than the largest size.
func (w *workspace) content(ctx context.Context, f io.Reader, info fs.FileInfo) ([]byte, error) {
	data := make([]byte, 0, min(info.Size(), w.max)+512)
	limited := io.LimitReader(f, w.max+1)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := limited.Read(data[len(data):min(cap(data), len(data)+1<<20)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (w *workspace) tooLarge(name string, size int64) error {
	return refuse("too_large", fmt.Sprintf("%s has %d bytes or more; files up to %d are changed and searched", name, size, w.max), "read_file shows the lines of a file of any size; to change this one another tool is needed")
}

// unlimited is the largest size of a file that is read in pieces.
const unlimited = math.MaxInt64

// open opens a regular file of at most most bytes for reading. Opening a device or a pipe could block
// or do things: what it is is known before, and checked again on what was opened.
func (w *workspace) open(name string, most int64) (*os.File, fs.FileInfo, error) {
	info, err := w.stat(name)
	if err != nil {
		return nil, nil, w.failed("read", name, err)
	}
	if err := w.regular(name, info, most); err != nil {
		return nil, nil, err
	}
	f, err := w.openFile(name)
	if err != nil {
		return nil, nil, w.failed("read", name, err)
	}
	info, err = f.Stat()
	if err == nil {
		err = w.regular(name, info, most)
	}
	if err != nil {
		f.Close()
		return nil, nil, w.failed("read", name, err)
	}
	return f, info, nil
}

// regular refuses what is not a plain file of this workspace alone.
func (w *workspace) regular(name string, info fs.FileInfo, most int64) error {
	switch {
	case info.IsDir():
		return refuse("is_directory", name+" is a directory", "use list_dir to see what it holds, and give the path of a file in it")
	case !info.Mode().IsRegular():
		return refuse("not_regular", name+" is not a regular file but a pipe, socket or device", "use another file")
	case hasOtherLinks(info):
		return refuse("hard_link", name+" has a second name, perhaps outside the workspace (a hard link), and is not opened", "use another file, or say that this one is not accessible")
	case info.Size() > most:
		return w.tooLarge(name, info.Size())
	}
	return nil
}

// notText says what data are if they are not text, by their first bytes.
func notText(data []byte) string {
	if what := magic(data); what != "" {
		return what
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == 0 {
			return "binary data"
		}
		if r == utf8.RuneError && size == 1 {
			return badBytes(1 + int64(strings.Count(string(data[:i]), "\n")))
		}
		i += size
	}
	return ""
}

// magic says what kind of file begins like this, if it is a known one that is not
// text.
func magic(data []byte) string {
	head := string(data[:min(len(data), 16)])
	for _, k := range []struct{ magic, what string }{
		{"\x89PNG", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"GIF8", "a GIF image"}, {"%PDF-", "a PDF document"},
		{"PK\x03\x04", "a ZIP archive or office document"}, {"\x1f\x8b", "gzip data"}, {"\x7fELF", "a program"}, {"SQLite format 3", "an SQLite database"},
	} {
		if strings.HasPrefix(head, k.magic) {
			return k.what
		}
	}
	if strings.HasPrefix(head, "\xff\xfe") || strings.HasPrefix(head, "\xfe\xff") {
		return "UTF-16 text"
	}
	return ""
}
