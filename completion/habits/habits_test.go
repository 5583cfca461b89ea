package habits

import (
	"strings"
	"testing"

	"quarry/completion/idioms"
)

func TestLine(t *testing.T) {
	const accessors = "this.minWidth = minWidth;\nthis.depth = depth;\nlog(1);\n"
	const setters = "void setWidth(int width) {\n    this.width = width;\n}\n"
	const table = "const (\n\tMinSize = iota\n\tMaxSize\n)\nvar sizeNames = map[int]string{\n\tMinSize: \"min_size\",\n"
	for _, tt := range []struct{ name, language, above, typed, want string }{
		{"another name", "java", accessors, "this.height = ", "height;"},
		{"the name begun", "java", accessors, "this.height = hei", "ght;"},
		{"another name than the one that is begun", "java", accessors, "this.height = w", ""},
		{"a name within a name", "java", setters, "void setHeight(int hei", "ght) {"},
		{"told by the line above", "java", setters + "void setHeight(int height) {\n", "    this.h", "eight = height;"},
		{"a type from a field", "rust", "order_list: OrderList,\nitem_list: ItemList,\n", "stock_level: Stoc", "kLevel,"},
		{"one line says too little", "java", "this.width = width;\n", "this.height = ", ""},
		{"no keyword for another", "python", "if a in found:\nif b in found:\n", "while c in ", ""},
		{"as far as they agree", "go", "f(one, ctx, 1)\nf(two, ctx, 2)\n", "f(three,", " ctx,"},
		{"nothing they agree on", "go", "f(1)\ng(2)\nh(3)\n", "f(", ""},
		{"nothing is typed", "go", "f(one)\nf(two)\n", "", ""},
		{"nothing is above", "go", "", "f(", ""},
		{"a long line is nobody's habit", "go", strings.Repeat("f(a, ctx, "+strings.Repeat("1, ", 60)+")\n", 3), "f(b, ", ""},
	} {
		if got := Line(tt.above, tt.typed, idioms.WordsOf(tt.language)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// Two names may each tell what a third becomes: it is the longer one's, each time.
	const both = "use(page, pageSize, pageSizeMax)\nuse(file, fileSize, fileSizeMax)\n"
	for range 50 {
		if got := Line(both, "use(row, lineWidth, ", idioms.WordsOf("go")); got != "lineWidthMax)" {
			t.Fatalf("two names tell: %q", got)
		}
	}
	if got := Line(table, "\tMaxSize: ", idioms.WordsOf("go")); got != "" {
		t.Errorf("of one line: %q", got)
	}
}

func TestNamesWithinNames(t *testing.T) {
	for _, tt := range []struct{ token, a, b, want string }{
		{"getWidth", "width", "height", "getHeight"},
		{"MAX_WIDTH", "width", "height", "MAX_HEIGHT"},
		{"StockLevel", "stock_level", "min_price", "MinPrice"},
		{"stock_level", "StockLevel", "MinPrice", "min_price"},
		{"setWidth", "getWidth", "getHeight", "setHeight"}, // what both share stays
		{"widths", "width", "height", ""},                  // not a whole part
		{"x1", "x", "y", ""},                               // a letter says too little
		{"width", "width", "width", ""},
		{"value", `"width"`, `"height"`, ""},
		{"__", "__", "_", ""},
	} {
		if got, ok := inWord(tt.token, tt.a, tt.b); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s, %s became %s: %q, want %q", tt.token, tt.a, tt.b, got, tt.want)
		}
	}
}

func TestWord(t *testing.T) {
	const above = "inventory = load()\ninvoice = first(inventory)\ninventory.sort_by(price)\n"
	for _, tt := range []struct{ name, language, typed, want string }{
		{"a name of the text", "python", "print(inven", "tory"},
		{"the one that is met more often", "python", "print(inv", "entory"},
		{"too little typed", "python", "print(pr", ""},
		{"a keyword", "python", "    ret", "urn"},
		{"a keyword of another language", "python", "    thro", ""},
		{"a member", "python", "inventory.sor", "t_by"},
		{"a member that everybody knows", "python", "names.app", "end"},
		{"no member", "python", "names.retu", ""},
		{"a name that is new", "python", "class Inven", ""},
		{"nothing is missing", "python", "inventory", ""},
		{"a number", "python", "x = 123", ""},
		{"a language without words", "plaintext", "retu", ""},
	} {
		if got := Word(above, tt.typed, idioms.WordsOf(tt.language)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// What stands behind the same word is likelier.
	if got := Word("serveFiles()\nserveUsers()\n", "go serve", idioms.Words{}); got != "" {
		t.Errorf("%q where it may be both", got)
	}
	if got := Word("go serveFiles()\nx serveUsers()\n", "go serve", idioms.Words{}); got != "Files" {
		t.Errorf("%q behind the same word", got)
	}
}
