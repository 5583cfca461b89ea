package lang

import (
	"bytes"
	"path"
	"strings"
)

// Detect returns the language of a file by its name, its extension or the
// interpreter of its first line, in this order, and PlainText if none of them
// tells. head is the start of the file; 512 bytes are enough for all but headers,
// which may be C or C++ and tell within some 8,000. It may be nil.
func Detect(name string, head []byte) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if l, ok := byFile[base]; ok {
		return l.ID
	}
	if strings.HasPrefix(base, "Dockerfile.") || strings.HasPrefix(base, "Containerfile.") {
		return "dockerfile"
	}
	switch ext := strings.ToLower(path.Ext(base)); ext {
	case "":
	case ".h":
		return headerLanguage(head)
	default:
		// Qt's translation files share their extension with TypeScript and are XML.
		if ext == ".ts" && bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte("<?xml")) {
			return "xml"
		}
		if l, ok := byExtension[ext[1:]]; ok {
			return l.ID
		}
	}
	if l := shebangLanguage(head); l != nil {
		return l.ID
	}
	return PlainText
}

// headerLanguage tells a C++ header from a C one by words that C lacks.
func headerLanguage(head []byte) string {
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t")
		for _, word := range []string{"namespace ", "class ", "template", "using ", "public:", "private:", "enum class ", "constexpr ", "inline auto ",
			"#include <string>", "#include <vector>", "#include <memory>", "#include <type_traits>", "#include <cstd"} {
			if bytes.HasPrefix(line, []byte(word)) {
				return "cpp"
			}
		}
		if bytes.HasPrefix(line, []byte("@interface")) || bytes.HasPrefix(line, []byte("#import")) {
			return "objective-c"
		}
	}
	return "c"
}

// shebangLanguage reads "#!/usr/bin/env -S python3 -u" and its like.
func shebangLanguage(head []byte) *Language {
	rest, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	for i, word := range strings.Fields(string(line)) {
		program := path.Base(word)
		if program == "env" || i > 0 && strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return byInterpreter[strings.TrimRight(program, "0123456789.")]
	}
	return nil
}
