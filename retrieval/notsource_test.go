package retrieval

import (
	"slices"
	"strings"
	"testing"
)

// A small web project, whose style sheets, pages and scripts say more of its subject than the
// code that a question is about.
func webProject() *Index {
	ix := New(Options{Project: "shop"})
	repeat := func(line string) string { return strings.Repeat(line, 12) }
	ix.Apply(changesOf([]Document{
		document("src/main/java/shop/OrderService.java", "package shop;\n\n/** Cancels an order of a basket. */\npublic class OrderService {\n  void cancel(Order order) { order.close(); }\n}\n"),
		document("web/order.css", repeat(".order .cancel { color: red; } /* cancel an order */\n")),
		document("web/order.html", repeat("<p class=\"order\">cancel the order</p>\n")),
		document("web/order.ts", "export function cancelOrder(id: string) { return post(id) }\n"),
		document("web/order.js", "export function cancelOrder(id) { return post(id) }\n"),
		document("man/order.1", repeat("To cancel an order, run order cancel.\n")),
		document("gradlew", "#!/bin/sh\n"+repeat("# cancel an order of arguments\n")),
	}))
	return ix
}

func TestWhatIsNoSourceRanksLow(t *testing.T) {
	ix := webProject()
	got := pathsOf(find(t, ix, "how is an order cancelled"))
	code := []string{"src/main/java/shop/OrderService.java", "web/order.ts"}
	if len(got) < 6 || !slices.Contains(code, got[0]) || !slices.Contains(code, got[1]) {
		t.Errorf("first are %q", got)
	}
	for _, r := range find(t, ix, "cancel the order in html and css").Results {
		if reasons := strings.Join(r.Reasons, ", "); strings.HasPrefix(r.Path, "web/order.") && strings.Contains(reasons, "lower: style") || strings.Contains(reasons, "lower: markup") {
			t.Errorf("%s is asked for: %s", r.Path, reasons)
		}
	}
	for query, want := range map[string][]string{
		"type:code cancel order":   code,
		"mode:code cancel order":   {code[0], code[1], "web/order.js"},
		"type:markup cancel order": {"web/order.css", "web/order.html"},
		"type:doc cancel order":    {"man/order.1"},
		"type:config cancel order": {"gradlew"},
	} {
		got := pathsOf(find(t, ix, query))
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for _, r := range find(t, ix, "how is an order cancelled").Results {
		if reasons := strings.Join(r.Reasons, ", "); r.Path == "web/order.js" && !strings.Contains(reasons, "ranked lower: compiled") {
			t.Errorf("%s: %s", r.Path, reasons)
		}
	}
}

// A file of many fitting chunks does not lead by their sum.
func TestALongFileDoesNotLeadByItsSum(t *testing.T) {
	var long strings.Builder
	for i := range 60 {
		long.WriteString(strings.Repeat("// the harbour has a crane, a pier and a ferry\n", 12))
		long.WriteString("func step" + string(rune('a'+i%26)) + "() { harbour() }\n\n")
	}
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("a/all.go", "package a\n\n"+long.String()),
		document("b/short.go", "package b\n\n// dock moors a ferry in the harbour at the pier with ropes.\nfunc dock() { moor(\"ferry\", \"harbour\", \"ropes\") }\n"),
	}))
	if got := pathsOf(find(t, ix, "how is a ferry moored with ropes in the harbour")); got[0] != "b/short.go" {
		t.Errorf("first is %s", got[0])
	}
}

// The one declaration of a name leads, wherever it stands, and a name as it is written comes
// before the same letters written otherwise.
func TestExactName(t *testing.T) {
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("testing/kit.go", "package testing\n\n// RunGroup runs tests.\ntype RunGroup struct{}\n"),
		document("run/group.go", strings.Repeat("// run a group: RunGroup, RunGroup\n", 10)+"package run\n\nfunc all() { use(RunGroup{}) }\n"),
		document("man/rungroup.1", strings.Repeat("RunGroup runs a group.\n", 20)),
		document("extract/extract.rs", "impl Extract {\n    /// Reads a request.\n    pub fn FromRequest(r: Request) -> Self { todo() }\n}\n"),
		document("from_request.rs", "/// from_request from_request\npub fn from_request() { from_request_parts() }\n"),
	}))
	for name, want := range map[string]string{"RunGroup": "testing/kit.go", "FromRequest": "extract/extract.rs", "from_request": "from_request.rs"} {
		if got := pathsOf(find(t, ix, name)); got[0] != want {
			t.Errorf("%s: first of %q", name, got)
		}
	}
}

func TestDeclarationsOfAFile(t *testing.T) {
	ix := sampleIndex(t)
	req := Request{Query: Parse("radix tree router", noon), Declarations: true}
	a, err := ix.Search(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := []Declared{{5, "Router", "struct"}, {8, "Router.Handle", "method"}}
	if r := a.Results[0]; r.Path != "server/router.go" || r.Declared != 2 || !slices.EqualFunc(r.Declares, want, func(a, b Declared) bool { return a.Symbol == b.Symbol && a.Kind == b.Kind && a.Line <= b.Line }) {
		t.Errorf("%s declares %v of %d", r.Path, r.Declares, r.Declared)
	}
	many := New(Options{})
	var b strings.Builder
	b.WriteString("package many\n\n")
	for i := range 40 {
		b.WriteString("func f" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "() {}\n")
	}
	b.WriteString("func anchorShip() { ship() }\n")
	many.Apply(changesOf([]Document{document("many.go", b.String())}))
	req.Query = Parse("where does a ship anchor", noon)
	if a, err = many.Search(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	r := a.Results[0]
	if len(r.Declares) != maxDeclares || r.Declared != 41 || r.Declares[len(r.Declares)-1].Symbol != "anchorShip" {
		t.Errorf("of %d: %v", r.Declared, r.Declares)
	}
}
