package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Binary describes data that is no text, by its size and what it begins as; empty
// if it is one. A text may have a few bytes that are wrong: one in ten, but fewer
// than 10,000; a zero byte counts as ten.
func Binary(data string) string {
	bad := strings.Count(data, "\x00") * 10
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRuneInString(data[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		i += size
	}
	if bad*10 <= len(data) && bad < 10_000 {
		return ""
	}
	kind := "binary data"
	if name := magic(data); name != "" {
		kind += " (" + name + ")"
	}
	return fmt.Sprintf("the result is not text but %d bytes of %s", len(data), kind)
}

// magic returns what kind of file data begins as, empty if that is not known:
// the marks that the formats themselves define.
func magic(data string) string {
	for _, m := range []struct {
		at         int
		mark, name string
	}{
		{0, "\x89PNG\r\n\x1a\n", "a PNG image"},
		{0, "\xff\xd8\xff", "a JPEG image"},
		{0, "GIF8", "a GIF image"},
		{8, "WEBP", "a WebP image"},
		{0, "BM", "a BMP image"},
		{0, "%PDF-", "a PDF document"},
		{0, "PK\x03\x04", "a ZIP archive, or a document or program in one"},
		{0, "\x1f\x8b", "gzip-compressed"},
		{0, "\x28\xb5\x2f\xfd", "zstd-compressed"},
		{0, "BZh", "bzip2-compressed"},
		{0, "\xfd7zXZ\x00", "xz-compressed"},
		{257, "ustar", "a tar archive"},
		{0, "\x7fELF", "an ELF program"},
		{0, "MZ", "a Windows program"},
		{0, "\x00asm", "a WebAssembly module"},
		{0, "SQLite format 3\x00", "a SQLite database"},
		{4, "ftyp", "MP4 or a similar video or image"},
		{0, "ID3", "an MP3 recording"},
		{0, "OggS", "an Ogg recording"},
		{8, "WAVE", "a WAV recording"},
		{0, "\xff\xfe", "perhaps UTF-16 text"},
		{0, "\xfe\xff", "perhaps UTF-16 text"},
	} {
		if len(data) >= m.at && strings.HasPrefix(data[m.at:], m.mark) {
			return m.name
		}
	}
	return ""
}
