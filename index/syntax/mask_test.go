package syntax

import (
	"slices"
	"strings"
	"testing"
)

func TestMaskMacros(t *testing.T) {
	for src, want := range map[string]string{
		"UV_EXTERN int uv_run(void);":                  "          int uv_run(void);",
		"static DWORD WINAPI loop(void* p) {":          "static DWORD        loop(void* p) {",
		"FMT_BEGIN_NAMESPACE\nint x;":                  "                   \nint x;",
		"FMT_BEGIN_EXPORT // all\nint x;":              "                 // all\nint x;",
		"FMT_PRAGMA_GCC(push_options)\nint x;":         "                            \nint x;",
		"FMT_DEPRECATED(\"so\") void f();":             "                     void f();",
		"FMT_CONSTEXPR20 auto f() FMT_NOEXCEPT;":       "                auto f()             ;",
		"HEAP_EXPORT(void heap_init(struct heap* h));": "            void heap_init(struct heap* h) ;",
		"UV_UNUSED(static int f(int a)) {":             "          static int f(int a)  {",
		"typedef VOID (NTAPI *PIO_ROUTINE)(PVOID);":    "typedef VOID (      *PIO_ROUTINE)(PVOID);",
		"a = OPEN_ALWAYS;":                             "a = OPEN_ALWAYS;",
		"f(FILE_ATTRIBUTE_NORMAL, x | CREATE_ALWAYS);": "f(FILE_ATTRIBUTE_NORMAL, x | CREATE_ALWAYS);",
		"UV_EXTERN\nint f(void);":                      "         \nint f(void);",
		"class FMT_API writer {":                       "class         writer {",
		"#define FMT_API \\\n  FMT_EXPORT\nint x;":     "#define FMT_API \\\n  FMT_EXPORT\nint x;",
		"#if X_HAS_INCLUDE(<any>) && Y\nint x;":        "#if X_HAS_INCLUDE(     ) && Y\nint x;",
		"MAX_ACCOUNTS = BEGIN_STATE;":                  "MAX_ACCOUNTS = BEGIN_STATE;",
		"BOOL ok = TRUE;":                              "BOOL ok = TRUE;",
		"enum { A_BEGIN, A_END };":                     "enum { A_BEGIN, A_END };",
		"enum { OP_ADD,\n OP_END\n};":                  "enum { OP_ADD,\n OP_END\n};",
		"OP_ADD, /* a, */\n#ifdef X\n OP_API // b\n};": "OP_ADD, /* a, */\n#ifdef X\n OP_API // b\n};",
		"OP_ADD, // one\n OP_ATTR\n":                   "OP_ADD, // one\n OP_ATTR\n",
		"int x; // a,\nX_END\n":                        "int x; // a,\n     \n",
		"":                                             "",
	} {
		if got := string(maskMacros([]byte(src))); got != want {
			t.Errorf("maskMacros(%q)\n got %q\nwant %q", src, got, want)
		}
	}
	if got, want := string(maskFunInterfaces([]byte("fun interface A\npublic fun interface B; xfun interface C"))),
		"    interface A\npublic     interface B; xfun interface C"; got != want {
		t.Errorf("maskFunInterfaces: got %q, want %q", got, want)
	}
	for src, want := range map[string]string{
		"create or replace\n Procedure s.p(n INTEGER, m INT)\nAS $$": "create or replace\n FUNCTION  s.p()RETURNS INT     \nAS $$",
		"CREATE PROCEDURE p(n INT)\nLANGUAGE plpgsql\nAS $$":         "CREATE FUNCTION  p(n INT)\nRETURNS INT     \nAS $$",
		"CREATE PROCEDURE p() AS $$; DROP PROCEDURE p; CREATE":       "CREATE PROCEDURE p() AS $$; DROP PROCEDURE p; CREATE",
		"create procedure": "create procedure",
	} {
		if got := string(maskProcedures([]byte(src))); got != want {
			t.Errorf("maskProcedures(%q)\n got %q\nwant %q", src, got, want)
		}
	}
	if got, want := string(maskLua([]byte("  ---@class A\nlocal x = 1 ---@type n\n"))), "  -- @class A\nlocal x = 1 ---@type n\n"; got != want {
		t.Errorf("maskLua: got %q, want %q", got, want)
	}
}

// TestMaskedTextIsReadFromTheFile: declarations behind macros are found, with
// the file's own text.
func TestMaskedTextIsReadFromTheFile(t *testing.T) {
	src := "FMT_BEGIN_NAMESPACE\n\n// Runs the loop.\nUV_EXTERN int uv_run(loop* l) { return WINAPI_go(l); }\n\nclass FMT_API writer : public base {\n  int n;\n};\nFMT_END_NAMESPACE\n"
	f, err := Analyze("cpp", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range f.Symbols {
		got = append(got, s.Name+" | "+s.Signature+" | "+s.Doc)
	}
	want := []string{"uv_run | int uv_run(loop* l) | Runs the loop.", "writer | class FMT_API writer : public base | ", "n | int n | "}
	if !slices.Equal(got, want) || len(f.Errors) > 0 {
		t.Errorf("got\n%s\nwant\n%s\nerrors %v", strings.Join(got, "\n"), strings.Join(want, "\n"), f.Errors)
	}
	tree, err := Parse("cpp", []byte(strings.Replace(src, "UV_EXTERN", "UV_EXTER", 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	updated, err := tree.Update([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	defer updated.Close()
	if n := len(updated.Analyze().Errors); n > 0 {
		t.Errorf("%d errors after the macro's name is complete", n)
	}
}
