package mask

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A change that a model proposes for what it saw masked keeps the values, and none gets
// where another may belong.
func TestRestore(t *testing.T) {
	r := chance()
	one, two := "ghp_"+drawn(r, alnum, 36), "ghp_"+drawn(r, alnum, 36)
	mask := "ghp_" + strings.Repeat("x", 36)
	single := "a(\"" + one + "\")\nb()\n"
	both := "a(\"" + one + "\")\nb(\"" + two + "\")\n"
	same := "// prod\na(\"" + one + "\")\n// dev\na(\"" + two + "\")\n// end\n"
	list := "{\n\"prod\":\n{\"token\": \"" + one + "\"},\n\"dev\":\n{\"token\": \"" + two + "\"}\n}\n"
	literal := single + "// such as " + mask + "\n"
	secret := "kind: Secret\nstringData:\n  password: \"a1 b2c3\"\n  host: x\n"
	manifest := "kind: Secret\nstringData:\n  password: hunter2\n  token: s3cr3tAB\n"
	twins := "kind: Secret\nstringData:\n  # prod\n  password: hunter2\n  # dev\n  password: s3cr3tAB\n"
	dashed := "prod(\"prod-" + one + "\")\ndev(\"" + two + "\")\n"
	alike := "[\n\"" + one + "\",\n\"" + two + "\"\n]\n"
	line := "{\"prod\": \"" + one + "\", \"dev\": \"" + two + "\"}\n"
	named := "names = [\"prod\", \"dev\"]\ntokens = " + alike
	behind := "tokens: " + alike + "port: 1\nnames:\n- prod\n- dev\n"
	blocks2 := "- name: prod\n  host: a\n  port: 1\n- name: dev\n  host: b\n  port: 1\ntokens: " + alike
	funcs := "func a() {\n\tb(1)\n\tlog(\"done\")\n}\nfunc b(x int) int {\n\treturn x + c(x, 2)\n}\nvar tokens = " + alike
	opted := "f(a, b)\nprod(\"" + one + "\")\ndev(\"" + two + "\")\n"
	issuers := "a(\"" + one + "\")\nb(\"glpat-" + drawn(r, word, 20) + "\")\n"
	ends := "{Name: \"prod\",\nToken: \"" + one + "\",\n}, {\nToken: \"" + two + "\",\nName: \"dev\"},\n"
	inner := "{\nToken: \"" + one + "\",\nName: \"prod\"},\n{Name: \"dev\",\nToken: \"" + two + "\",\n}\n"
	key := strings.Join(pemBody(r), "\n") + "\n"
	pem := "a\n-----BEGIN RSA " + keyLabel + "-----\n" + key + "-----END RSA " + keyLabel + "-----\nb\n"
	pem2 := "c\n-----BEGIN RSA " + keyLabel + "-----\n" + strings.Join(pemBody(r), "\n") + "\n-----END RSA " + keyLabel + "-----\nd\n"
	replaced := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	to := func(s string) func(string) string { return func(string) string { return s } }
	for _, tt := range []struct {
		name, text string
		change     func(shown string) string
		want       string // "" for what cannot be told
		err        error
	}{
		{"the same", both, replaced("", ""), both, nil},
		{"a line more", both, replaced("", "// log in\n"), "// log in\n" + both, nil},
		{"renamed", single, replaced("a(", "login("), "login(\"" + one + "\")\nb()\n", nil},
		{"moved", single, to("b()\nc(\"" + mask + "\")\n"), "b()\nc(\"" + one + "\")\n", nil},
		{"copied", single, to("a(\"" + mask + "\")\nb(\"" + mask + "\")\n"), "", ErrAlike},
		{"copied as it is", single, replaced("", "a(\""+mask+"\")\n"), "", ErrAlike},
		{"taken away", both, to("a(os.Getenv(\"TOKEN\"))\n"), "a(os.Getenv(\"TOKEN\"))\n", nil},
		{"no mask", both, to("xxxx\n"), "", ErrUnknown},
		{"no mask, and none lost", both, replaced("", "xxxx\n"), "xxxx\n" + both, nil},
		{"another's length", manifest, replaced("password: xxxxxxx", "db_password: xxxxxxxx"), "", ErrAlike},
		{"its own length", manifest, replaced("password: xxxxxxx", "db_password: xxxxxxx"), strings.Replace(manifest, "password", "db_password", 1), nil},
		{"two without a beginning", manifest, to(strings.NewReplacer("pass", "db_pass", "token", "key").Replace(Text(manifest))), "", ErrAlike},
		{"indented", manifest, to(strings.ReplaceAll(Text(manifest), "  ", "    ")), strings.ReplaceAll(manifest, "  ", "    "), nil},
		{"three x's", manifest, replaced("xxxxxxx", "xxx"), "", ErrUnknown},
		{"one x", manifest, replaced("xxxxxxx", "x"), "", ErrUnknown},
		{"one x and another name", manifest, replaced("password: xxxxxxx", "db_password: x"), "", ErrUnknown},
		{"more x's", manifest, replaced("password: xxxxxxx", "password: xxxxxxxxxx"), "", ErrUnknown},
		{"x's in an argument", manifest, replaced("  password: xxxxxxx", "  run: mysql -pxxxxxxx"), "", ErrUnknown},
		{"x elsewhere", manifest, replaced("kind", "x: max_xxl\nkind"), "x: max_xxl\n" + manifest, nil},
		{"taken away for a variable", manifest, replaced("password: xxxxxxx", "password: $(PW)"), strings.Replace(manifest, "hunter2", "$(PW)", 1), nil},
		{"three x's behind a beginning", single, replaced("b()", "b(\"ghp_xxx\")"), "", ErrUnknown},
		{"the word before it goes", dashed, replaced("prod-ghp", "ghp"), "", ErrAlike},
		{"the escape before it goes", strings.Replace(dashed, "prod-", "p\\t", 1), replaced("p\\tghp", "ghp"), "", ErrAlike},
		{"the word before the only one goes", "prod(\"prod-" + one + "\")\n", replaced("prod-ghp", "ghp"), "prod(\"" + one + "\")\n", nil},
		{"one of another issuer in its place", issuers, replaced(mask, "glpat-"+strings.Repeat("x", 20)), "", ErrAlike},
		{"two issuers' at once", issuers, to(strings.NewReplacer("a(", "c(", "b(", "d(").Replace(Text(issuers))), strings.NewReplacer("a(", "c(", "b(", "d(").Replace(issuers), nil},
		{"names in front of the first and behind the last", ends, to(strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(ends))), "", ErrAlike},
		{"names between two", inner, to(strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(inner))), "", ErrAlike},
		{"one name between two", inner, replaced("prod", "live"), strings.Replace(inner, "prod", "live", 1), nil},
		{"lines that only a length tells apart", twins, to(strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(twins))), "", ErrAlike},
		{"one of them miscounted", twins, to("kind: Secret\nstringData:\n  # dev\n  password: xxxxxxx\n"), "", ErrAlike},
		{"what is around two keys", pem + pem2, replaced("a\n", "c\n"), strings.Replace(pem+pem2, "a\n", "c\n", 1), nil},
		{"names of two keys", pem + pem2, to(strings.NewReplacer("a\n", "c\n", "c\n", "a\n").Replace(Text(pem + pem2))), "", ErrAlike},
		{"a template", both, replaced("", "// xxxxxxxx-xxxx\n"), "// xxxxxxxx-xxxx\n" + both, nil},
		{"the same value twice", strings.ReplaceAll(both, two, one), replaced("b(", "c("), "a(\"" + one + "\")\nc(\"" + one + "\")\n", nil},
		{"one of two renamed", both, replaced("a(", "login("), "", ErrAlike},
		{"one of two removed", both, to("b(\"" + mask + "\")\n"), "b(\"" + two + "\")\n", nil},
		{"one of two removed, and a line more", both, to("b(\"" + mask + "\")\nc()\n"), "", ErrAlike},
		{"one of two that look the same removed", same, to("// prod\na(\"" + mask + "\")\n// end\n"), "", ErrAlike},
		{"one of two that look the same removed with its name", same, to("// dev\na(\"" + mask + "\")\n// end\n"), "// dev\na(\"" + two + "\")\n// end\n", nil},
		{"a placeholder", "a\n", to("a\nsk-xxxx\n"), "a\nsk-xxxx\n", nil},
		{"a short piece taken away", secret, to("kind: Secret\nstringData:\n  host: y\n"), "kind: Secret\nstringData:\n  host: y\n", nil},
		{"a key taken away", pem, to("a\nos.Getenv(\"KEY\")\nb\n"), "a\nos.Getenv(\"KEY\")\nb\n", nil},
		{"swapped", both, to("b(\"" + mask + "\")\na(\"" + mask + "\")\n"), "", ErrAlike},
		{"mixed", both, to("c(\"" + mask + "\", Options{})\n"), "", ErrAlike},
		{"one of two copied", both, replaced("", "a(\""+mask+"\")\n"), "", ErrAlike},
		{"what looks the same by its own", literal, replaced("a(", "login("), "", ErrAlike},
		{"beside what looks the same", literal, replaced("b()", "c()"), strings.Replace(literal, "b()", "c()", 1), nil},
		{"what is around one of two", same, replaced("dev", "test"), strings.Replace(same, "dev", "test", 1), nil},
		{"what is around both", same, to(strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(same))), "", ErrAlike},
		{"a name in front of one and words behind all", same, to(strings.NewReplacer("prod", "live", "end", "done").Replace(Text(same))), "", ErrAlike},
		{"names trade places, and a comma tells the lines apart", list, to(strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(list))), "", ErrAlike},
		{"one of two that only a comma tells apart removed", list, to("{\n\"prod\":\n{\"token\": \"" + mask + "\"}\n}\n"), "", ErrAlike},
		{"names of one line", line, to(strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(line))), "", ErrAlike},
		{"names of one line, and a comment", line, to("# more\n" + strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(line))), "", ErrAlike},
		{"a list of names in front", named, replaced(`"prod", "dev"`, `"dev", "prod"`), "", ErrAlike},
		{"a list of names in front, and a line more", named, to("// log in\n" + strings.Replace(Text(named), `"prod", "dev"`, `"dev", "prod"`, 1)), "", ErrAlike},
		{"a list of names in front, and one more", named, replaced(`"prod", "dev"`, `"dev", "test", "prod"`), "", ErrAlike},
		{"a name more in a list in front", named, replaced(`"prod", "dev"`, `"prod", "dev", "test"`), strings.Replace(named, `"prod", "dev"`, `"prod", "dev", "test"`, 1), nil},
		{"another name in a list in front", named, replaced(`"prod", "dev"`, `"live", "dev"`), strings.Replace(named, `"prod", "dev"`, `"live", "dev"`, 1), nil},
		{"a list of names behind", behind, to(strings.NewReplacer("- prod", "- dev", "- dev", "- prod").Replace(Text(behind))), "", ErrAlike},
		{"a list of names behind, and a line more", behind, to(strings.NewReplacer("- prod", "- dev", "- dev", "- prod", "port: 1", "port: 1\nhost: b").Replace(Text(behind))), "", ErrAlike},
		{"names of two blocks in front", blocks2, to(strings.NewReplacer("prod", "dev", "dev", "prod").Replace(Text(blocks2))), "", ErrAlike},
		{"hosts of two blocks in front", blocks2, to(strings.NewReplacer("host: a", "host: b", "host: b", "host: a").Replace(Text(blocks2))), "", ErrAlike},
		{"a port of two blocks in front", blocks2, replaced("port: 1", "port: 2"), strings.Replace(blocks2, "port: 1", "port: 2", 1), nil},
		{"a function moved in front", funcs, to(strings.Replace("func b(x int) int {\n\treturn x + c(x, 2)\n}\n"+Text(funcs), "func b(x int) int {\n\treturn x + c(x, 2)\n}\nvar", "var", 1)), strings.Replace("func b(x int) int {\n\treturn x + c(x, 2)\n}\n"+funcs, "func b(x int) int {\n\treturn x + c(x, 2)\n}\nvar", "var", 1), nil},
		{"a function written anew in front", funcs, replaced("\treturn x + c(x, 2)\n", "\tif x > 2 {\n\t\treturn c(x, 3)\n\t}\n\treturn x\n"), strings.Replace(funcs, "\treturn x + c(x, 2)\n", "\tif x > 2 {\n\t\treturn c(x, 3)\n\t}\n\treturn x\n", 1), nil},
		{"an option of one", opted, to(strings.NewReplacer("a, b", "b, a").Replace(Text(opted))), strings.Replace(opted, "a, b", "b, a", 1), nil},
		{"another length", single, replaced("xxx", "xx"), "", ErrUnknown},
		{"cut", single, replaced(mask, "ghp_xxxx"), "", ErrUnknown},
		{"of another issuer", single, replaced("ghp_", "gho_"), "", ErrUnknown},
		{"of nowhere", "a\n", replaced("a", mask), "", ErrUnknown},
		{"of the user", "// " + mask + "\n", replaced("// ", "# "), "# " + mask + "\n", nil},
		{"beside a short piece", secret, replaced("host", "port"), strings.Replace(secret, "host", "port", 1), nil},
		{"a short piece", secret, replaced("password", "pass"), "", ErrAlike},
		{"around a key", pem, func(s string) string { return "c" + s + "d\n" }, "c" + pem + "d\n", nil},
		{"in a key", pem, replaced("\nxxx", "\n  xxx"), "", ErrAlike},
	} {
		shown := Text(tt.text)
		got, err := Restore(t.Context(), tt.text, tt.change(shown), nil)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v, want %q, %v; shown %q", tt.name, got, err, tt.want, tt.err, shown)
		}
	}
	// Another file that changes has such a value too.
	if got, err := Restore(t.Context(), single, replaced("a(", "login(")(Text(single)), besides(t, single, "c(\""+two+"\")")); !errors.Is(err, ErrAlike) {
		t.Errorf("another's value beside: %q, %v", got, err)
	}
	if got, err := Restore(t.Context(), "kind: a\n", "password: xxxxxxx\n", besides(t, "kind: a\n", "kind: Secret\nstringData:\n  password: hunter2\n")); !errors.Is(err, ErrUnknown) {
		t.Errorf("from another file: %q, %v", got, err)
	}
}

// besides is what files that change together have masked.
func besides(t *testing.T, texts ...string) *Beside {
	t.Helper()
	b, err := ReadBeside(t.Context(), texts...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Ghost text keeps what it lies over, and writes no mask.
func TestInsert(t *testing.T) {
	r := chance()
	one, two := "ghp_"+drawn(r, alnum, 36), "ghp_"+drawn(r, alnum, 36)
	mask := "ghp_" + strings.Repeat("x", 36)
	for _, tt := range []struct {
		name, text string // | is where it begins and where it ends
		with, want string
		ok         bool
	}{
		{"behind a token", "a(\"" + one + "\", ||)\nb(\"" + two + "\")\n", "opts)", "opts)", true},
		{"over a token", "a(\"" + two + "\")\nb(|\"" + one + "\"|)\n", "ctx, \"" + mask + "\"", "ctx, \"" + one + "\"", true},
		{"over a token and more", "b(|\"" + one + "\"|)\n", "\"" + mask + "\", opts", "\"" + one + "\", opts", true},
		{"in place of a token", "b(|\"" + one + "\"|)\n", "token", "", false},
		{"a mask", "b(\"" + one + "\")\nc(||)\n", "\"" + mask + "\"", "", false},
		{"the rest of a mask", "c(\"ghp_||\")\n", strings.Repeat("x", 36), "", false},
		{"part of a mask", "b(\"" + one + "\")\nc(\"||\")\n", "ghp_xxxxxxx", "", false},
		{"in a later line", "c(||)\n", "1)\nd(\"" + mask + "\"", "", false},
		{"the user's own", "// " + mask + "\nc(||)\n", "\"" + mask + "\"", "\"" + mask + "\"", true},
		{"a template", "c(||)\n", "\"xxxx-xxxx\"", "\"xxxx-xxxx\"", true},
	} {
		parts := strings.Split(tt.text, "|")
		text := strings.Join(parts, "")
		got, ok := Insert(text, len(parts[0]), len(parts[0])+len(parts[1]), tt.with)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %q, %v, want %q, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// Whatever lines are deleted, moved, copied, edited and added, names traded, words before values
// dropped and x's miscounted, a value stays with the name that
// it was given to, no mask is left that the text does not show itself, and what touches no line
// with a mask is done.
func TestRestoreMixesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	kinds := []struct {
		prefix string
		body   *set
		length int
	}{{"ghp_", alnum, 36}, {"ghp_", alnum, 36}, {"ghp_", alnum, 36}, {"glpat-", word, 20}, {"hf_", alnum, 34}, {"AKIA", base32, 16}}
	short := regexp.MustCompile("[_-]x{2,}|xxxxxxx")
	taken, refused, calm := 0, 0, 0
	for range 20000 {
		var lines []string
		owner := map[string]string{} // of a value
		var values []string
		for i := range 1 + r.IntN(5) {
			name, k := "name"+string(rune('a'+i)), kinds[r.IntN(len(kinds))]
			value := k.prefix + (&token{"", k.body, k.length, k.length, nil}).draw(r)
			if len(values) > 0 && r.IntN(6) == 0 {
				value = values[r.IntN(len(values))]
			}
			values = append(values, value)
			owner[value] += " " + name
			line := name + "(\"" + value + "\")"
			switch r.IntN(7) {
			case 4: // named behind it
				lines = append(lines, "{", "  \"token\": \""+value+"\",", "  \"of\": \""+name+"\"},")
			case 5: // a word before it
				lines = append(lines, name+"(\"of-"+value+"\")")
			case 6:
				lines = append(lines, name+"(\"\\t"+value+"\")")
			case 0: // named by the line before
				lines = append(lines, name+":", "  token: "+value)
			case 1:
				lines = append(lines, name+": {", "  \"token\": \""+value+"\"", "},")
			case 2:
				lines = append(lines, line, "call(xxxx)")
			default:
				lines = append(lines, line)
			}
		}
		if r.IntN(8) == 0 {
			lines = append(lines, "// such as ghp_"+strings.Repeat("x", 36))
		}
		text := strings.Join(lines, "\n") + "\n"
		shown := Text(text)
		was := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
		after := append([]string(nil), was...)
		touches, traded, named := false, "", true
		touch := func(i int) { touches = touches || strings.Contains(after[i], "xxxxxxx") }
		ops := 1 + r.IntN(3)
		for range ops {
			if len(after) == 0 {
				break
			}
			i, j := r.IntN(len(after)), r.IntN(len(after))
			switch r.IntN(9) {
			case 6: // names trade places
				a, b := r.IntN(len(values)), r.IntN(len(values))
				touches, named = true, false
				one, two := "name"+string(rune('a'+a)), "name"+string(rune('a'+b))
				for k := range after {
					after[k] = strings.NewReplacer(one, two, two, one).Replace(after[k])
				}
				if p, q := values[a], values[b]; p != q && p[:3] == q[:3] {
					traded += one + two
				}
			case 7: // what stands before a value goes
				touch(i)
				after[i] = strings.NewReplacer("of-", "", "\\t", "").Replace(after[i])
			case 8: // a mask is miscounted, or cut
				touch(i)
				after[i] = regexp.MustCompile("x{7,}").ReplaceAllStringFunc(after[i], func(mask string) string {
					return []string{mask[1:], mask + "x", "xxx", "xxxxx"}[r.IntN(4)]
				})
			case 0:
				touch(i)
				touch(j)
				after[i], after[j] = after[j], after[i]
			case 1:
				touch(i)
				after = slices.Delete(after, i, i+1)
			case 2:
				touch(i)
				after = append(after, after[i])
			case 3:
				touch(i)
				after[i] += " // more"
			case 4:
				after = slices.Insert(after, i, "added()")
			case 5: // a block
				j = min(len(after), i+3)
				for k := i; k < j; k++ {
					touch(k)
				}
				block := slices.Clone(after[i:j])
				after = append(slices.Delete(after, i, j), block...)
			}
		}
		got, err := Restore(t.Context(), text, strings.Join(after, "\n")+"\n", nil)
		if err != nil {
			refused++
			if !touches && !ambiguous(was, lines) {
				t.Fatalf("%v: %q was not made %q", err, shown, after)
			}
			continue
		}
		taken++
		if traded != "" && ops == 1 {
			t.Fatalf("%s traded places: %q became %q", traded, text, got)
		}
		if !touches {
			calm++
		}
		for i, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
			if len(after) == 0 {
				break
			}
			if line == after[i] { // nothing put back
				if short.MatchString(line) && !strings.HasPrefix(line, "// such as") && !slices.Contains(lines, strings.TrimSuffix(line, " // more")) {
					t.Fatalf("%q became %q", text, got)
				}
				continue
			}
			value := ""
			for _, v := range values {
				if strings.Contains(line, v) {
					value = v
				}
			}
			if name, _, ok := strings.Cut(line, "("); ok && strings.HasPrefix(name, "name") && named && !strings.Contains(owner[value], name) || value == "" {
				t.Fatalf("%q became %q", text, got)
			}
			if at := slices.Index(was, after[i]); at >= 0 && strings.Count(shown, after[i]+"\n") == 1 && line != lines[at] {
				t.Fatalf("%q became %q: line %d", text, got, i+1)
			}
		}
	}
	t.Logf("%d changes were taken, %d of them beside all masks, %d refused", taken, calm, refused)
	if taken < 5000 || calm < 2000 || refused < 2000 {
		t.Errorf("only %d changes were taken, %d of them beside all masks, %d refused", taken, calm, refused)
	}
}

// The values of a Kubernetes Secret, many of which look alike and are short, stay with their names
// whatever is renamed, swapped, taken away, miscounted and cut.
func TestRestoreMixesNoSecrets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	cut := regexp.MustCompile("\\bx{2,}\\b")
	taken, refused := 0, 0
	for range 20000 {
		lines := []string{"kind: Secret", "stringData:"}
		owner := map[string]string{} // of a value
		for i := range 2 + r.IntN(4) {
			name := "password" + string(rune('a'+i))
			value := "z" + drawn(r, bytesOf("abcdefgh"), 6+r.IntN(3))
			if owner[value] != "" {
				continue
			}
			owner[value] = name
			if r.IntN(3) == 0 {
				lines = append(lines, "  # "+name)
			}
			lines = append(lines, "  "+name+": "+value)
		}
		text := strings.Join(lines, "\n") + "\n"
		after := strings.Split(strings.TrimSuffix(Text(text), "\n"), "\n")
		for range 1 + r.IntN(3) {
			if len(after) < 3 {
				break
			}
			i, j := 2+r.IntN(len(after)-2), 2+r.IntN(len(after)-2)
			switch r.IntN(7) {
			case 0:
				after[i] = strings.Replace(after[i], "password", "db_password", 1)
			case 1:
				after[i], after[j] = after[j], after[i]
			case 2:
				after = slices.Delete(after, i, i+1)
			case 3, 4:
				if name, mask, ok := strings.Cut(after[i], ": "); ok && len(mask) > 4 {
					after[i] = name + ": " + []string{mask + "x", mask[1:], "xxx", "xx", "x"}[r.IntN(5)]
				}
			case 5:
				after[i] += " # more"
			case 6:
				after = slices.Insert(after, i, "  # added")
			}
		}
		got, err := Restore(t.Context(), text, strings.Join(after, "\n")+"\n", nil)
		if err != nil {
			refused++
			continue
		}
		taken++
		for line := range strings.Lines(got) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			value, _, _ = strings.Cut(value, " #")
			if own := owner[value]; value != "" && own != "" && strings.TrimPrefix(strings.ReplaceAll(name, "db_", ""), "# ") != own || cut.MatchString(line) || strings.HasSuffix(line, ": x\n") {
				t.Fatalf("%q became %q by %q", text, got, after)
			}
		}
	}
	t.Logf("%d changes were taken, %d refused", taken, refused)
	if taken < 5000 || refused < 5000 {
		t.Errorf("only %d changes were taken, %d refused", taken, refused)
	}
}

// Whatever stands in a text and is changed in what is shown of it, only x's are written over, only by
// what the text has masked, none of it twice, and what is shown is made the text again.
func FuzzRestore(f *testing.F) {
	r := chance()
	one, two := "ghp_"+drawn(r, alnum, 36), "ghp_"+drawn(r, alnum, 36)
	mask := "ghp_" + strings.Repeat("x", 36)
	for _, seed := range []struct{ text, with string }{
		{"a(\"" + one + "\")\nb()\n", "login"}, {"a(\"" + one + "\")\nb(\"" + two + "\")\n", mask}, {"names = [\"prod\", \"dev\"]\nt = [\n\"" + one + "\",\n\"" + two + "\"\n]\n", "\"dev\", \"prod\""},
		{"kind: Secret\nstringData:\n  password: hunter2\n  token: s3cr3tAB\n", "xxxxxxx"}, {"kind: Secret\nstringData:\n  # prod\n  password: hunter2\n  # dev\n  password: s3cr3tAB\n", "x"},
		{"-----BEGIN RSA " + keyLabel + "-----\n" + strings.Join(pemBody(r), "\n") + "\n-----END RSA " + keyLabel + "-----\n", "\n"}, {"xxxx\r\né" + one + "\xff\r\n", strings.Repeat("x", 20)}, {one + two, one}, {"", ""}, {"glpat-" + drawn(r, word, 20) + " // " + mask, "glpat-"},
	} {
		for _, at := range []uint16{0, 9, 30} {
			f.Add(seed.text, seed.with, at, uint16(len(seed.with)))
			f.Add(seed.text, seed.with, at, uint16(0))
		}
	}
	f.Fuzz(func(t *testing.T, text, with string, at, cut uint16) {
		shown := Text(text)
		if got, err := Restore(t.Context(), text, shown, nil); got != text || err != nil {
			t.Fatalf("%q is shown as %q and made %q, %v", text, shown, got, err)
		}
		start := min(len(shown), int(at))
		end := min(len(shown), start+int(cut))
		after := shown[:start] + with + shown[end:]
		if kept, ok := Insert(text, start, end, with); ok && !strings.ContainsAny(shown[start:end]+with, "\r\n") {
			if whole := text[:start] + kept + text[end:]; len(whole) != len(after) {
				t.Fatalf("%q over %q of %q: %q", with, shown[start:end], text, kept)
			}
		}
		got, err := Restore(t.Context(), text, after, nil)
		if err != nil {
			return
		}
		if len(got) != len(after) {
			t.Fatalf("%q became %q by %q", text, got, after)
		}
		put := map[string]int{}
		for i := 0; i < len(got); i++ {
			from := i
			for i < len(got) && got[i] != after[i] {
				if after[i] != 'x' {
					t.Fatalf("%q became %q by %q: byte %d", text, got, after, i)
				}
				i++
			}
			if from < i {
				put[got[from:i]]++
			}
		}
		for value, n := range put {
			if strings.Count(text, value) < n {
				t.Fatalf("%q became %q by %q: %q stands there %d times", text, got, after, value, n)
			}
		}
	})
}

// ambiguous answers whether two lines show the same and hold different values.
func ambiguous(shown, lines []string) bool {
	values := map[string]string{}
	for i, line := range shown {
		key := words(line)
		if first, ok := values[key]; ok && first != hidden(lines[i], line) {
			return true
		}
		values[key] = hidden(lines[i], line)
	}
	return false
}
