package syntax

import "testing"

func TestOneLineSignature(t *testing.T) {
	for in, want := range map[string]string{
		"def f(\n    self,\n    *,\n    size: int,\n) -> None:":        "def f(self, *, size: int) -> None",
		"func f(\n\ta int,\n\tb []string,\n) (\n\tint,\n\terror,\n) {": "func f(a int, b []string) (int, error)",
		"int\nmain(int argc,\n     char **argv)\n{":                    "int main(int argc, char **argv)",
		"pub fn f<T>(x: T)\n  where T: Into<String>\n{":                "pub fn f<T>(x: T) where T: Into<String>",
		"const f = (a,  b) =>":                                         "const f = (a, b)",
		"x: [\n  1,\n],":                                               "x: [1]",
	} {
		if got := oneLineSignature([]byte(in)); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}
