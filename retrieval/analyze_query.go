package retrieval

import (
	"slices"
	"strings"
	"unicode"

	"quarry/index/token"
)

// Class is what kind of question a query is; it chooses the weights.
type Class string

// The classes of queries.
const (
	// ClassSymbol is a name: ServeHTTP, Sinatra::Base, create_store.
	ClassSymbol Class = "symbol"
	// ClassText is anything in words.
	ClassText Class = "text"
)

// queryTerm is one term of the lexical query.
type queryTerm struct {
	text   string
	weight float32
	// joined marks the concatenation of two neighbouring words.
	joined bool
}

// analyzed is a query as the signals read it.
type analyzed struct {
	class Class
	// terms are what the postings are asked for, no term twice.
	terms []queryTerm
	// words are the stems of the words without stop words, one each, and raw the
	// words they come from, in lower case.
	words, raw []string
	// late are the words that stand behind a preposition.
	late wordSet
	// names are the identifiers that stand in the query, lower case and as
	// written; a symbol query has exactly one.
	names []queryName
	// plain are the query's words of prose, and neighbours of them written as
	// one, that may name a declaration.
	plain []plainName
	// joined are neighbouring words written as one.
	joined []joinedWords

	// wanted are the file classes that the query asks for, or the folder the user is in has:
	// they lower no file.
	wanted fileClass
	// asked are those of them that the filters and the folder ask for: the words of a message that
	// somebody pastes ask for nothing.
	asked fileClass
}

// plainName is a lower-case word that may be a name, with the stem whose
// frequency says how telling it is.
type plainName struct{ flat, stem string }

// joinedWords is what words[first] and words[second] spell together.
type joinedWords struct {
	flat          string
	first, second int
}

// wordSet has a bit for each of the first 64 words of a query.
type wordSet uint64

func (s wordSet) has(i int) bool { return i < 64 && s>>i&1 != 0 }

// joinedName returns the words that a flat name is made of: two neighbours, or
// none.
func (a *analyzed) joinedName(base string) wordSet {
	for _, j := range a.joined {
		if j.flat == base {
			return 1<<min(j.first, 63) | 1<<min(j.second, 63)
		}
	}
	return 0
}

type queryName struct {
	written string // the last part: Base of Sinatra::Base
	owner   string // what stands before it, lower case: sinatra
}

// stopWords carry no meaning in a question about code. Words that name things
// in code (set, map, get, new, type, file, test, all) are not among them.
var stopWords = setOf(strings.Fields(`a an the of in on at to for from by with without into onto as is are was were be been being
	it its this that these those there here how what where when which who whom whose why does do did done doing can could should would will
	may might must shall i you we they he she my our your their his her me us them and or but not nor so if then than else also very just
	only about between within during before after above below up down out off over under again further once each any some such no own same
	too s t don find show tell give explain please want need looking look me us please code codebase repository repo project implemented implementation
	implement implements work works working used uses using use handled handles handle happen happens get gets defined located live lives via
	logic place part parts way ways thing things stuff whether while through across per etc e g ie eg vs support supports supported
	provide provides provided allow allows allowed let lets make makes made making called responsible`)...)

// prepositions part what a question is about from its circumstances: the file of
// "cookie store for sessions" is the cookie store's.
var prepositions = setOf("of", "for", "in", "into", "on", "to", "by", "via", "with", "without", "from", "as", "using", "through", "across", "under", "when", "while",
	"that", "which", "before", "after", "during")

// symbolKeywords before a name make a query of two words a symbol query.
var symbolKeywords = setOf("func", "function", "fn", "def", "class", "struct", "interface", "trait", "enum", "type", "method", "module", "macro", "const", "var", "record", "protocol", "object")

// analyzeQuery cuts the text of a query. project is the workspace's name.
func analyzeQuery(an *token.Analyzer, text, project string) analyzed {
	var a analyzed
	fields := strings.Fields(text)
	if name, ok := wholeName(fields); ok {
		a.class = ClassSymbol
		a.names = append(a.names, name)
	} else {
		a.class = ClassText
	}
	projectFlat := flatName(project)
	seen := map[string]int{}
	addTerm := func(t queryTerm) {
		if i, ok := seen[t.text]; ok {
			if a.terms[i].weight < t.weight {
				a.terms[i].weight = t.weight
			}
			return
		}
		seen[t.text] = len(a.terms)
		a.terms = append(a.terms, t)
	}
	kept, early := keptFields(fields, a.class)
	earlyWords := 0
	var rawWords []string // lower-cased words in order, for neighbours
	for i, f := range kept {
		if i == early {
			earlyWords = len(rawWords)
		}
		lower := strings.ToLower(strings.TrimFunc(f, notWord))
		weight := float32(1)
		if projectFlat != "" && flatName(lower) == projectFlat && len(kept) > 1 {
			weight = projectWeight
		}
		a.intent(lower)
		n := 0
		an.Terms(f, func(term []byte) {
			addTerm(queryTerm{text: string(term), weight: weight})
			n++
		})
		if a.class == ClassText {
			if name, ok := identifier(f); ok {
				a.names = append(a.names, name)
			}
			if plainWord(lower) {
				a.plain = append(a.plain, plainName{lower, an.Stem(lower)})
				if singular, ok := strings.CutSuffix(lower, "s"); ok && len(singular) > 3 {
					a.plain = append(a.plain, plainName{singular, an.Stem(lower)})
				}
			}
		}
		rawWords = append(rawWords, an.Words(nil, f)...)
	}
	for _, f := range fields {
		a.intent(strings.ToLower(strings.TrimFunc(f, notWord)))
	}
	if early == len(kept) {
		earlyWords = len(rawWords)
	}
	before := -1
	for i, w := range rawWords {
		s := an.Stem(w)
		at := slices.Index(a.words, s)
		if at < 0 {
			at = len(a.words)
			a.words = append(a.words, s)
			a.raw = append(a.raw, w)
			if i >= earlyWords && at < 64 {
				a.late |= 1 << at
			}
		}
		if i > 0 {
			flat := rawWords[i-1] + w
			a.joined = append(a.joined, joinedWords{flat, before, at})
			if a.class == ClassText {
				addTerm(queryTerm{text: flat, weight: joinedWeight, joined: true})
				a.plain = append(a.plain, plainName{flat, flat})
			}
		}
		before = at
	}
	return a
}

// maxWords is how many words of a query are looked up; a pasted file is no
// question.
const maxWords = 64

// keptFields drops stop words; a query of nothing else keeps them all. The first early
// of those kept stand before any preposition.
func keptFields(fields []string, class Class) (kept []string, early int) {
	if class == ClassSymbol {
		return fields, len(fields)
	}
	kept = make([]string, 0, min(len(fields), maxWords))
	for _, f := range fields {
		if len(kept) == maxWords {
			break
		}
		w := strings.ToLower(strings.TrimFunc(f, notWord))
		if prepositions[w] && early == 0 {
			early = len(kept)
		}
		if w != "" && !stopWords[w] {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		kept = fields[:min(len(fields), maxWords)]
	}
	if early == 0 {
		early = len(kept)
	}
	return kept, early
}

// intent lifts penalties when the query asks for what they demote.
func (a *analyzed) intent(word string) {
	if _, ok := platformNames[word]; ok {
		a.wanted |= classForeign
	}
	switch word {
	case "test", "tests", "testing", "tested", "spec", "specs", "fixture", "fixtures", "mock", "mocks", "assert", "asserts":
		a.wanted |= classTest
	case "example", "examples", "sample", "samples", "demo", "tutorial":
		a.wanted |= classExample
	case "compat", "compatibility", "legacy", "deprecated", "backward", "backwards", "polyfill", "shim", "v1", "v2", "v3", "old":
		a.wanted |= classCompat
	case "documentation", "docs", "readme", "changelog", "guide":
		a.wanted |= classDoc
	case "type", "types", "typed", "typing", "typings", "interface", "interfaces", "declaration", "declarations", "stub", "stubs":
		a.wanted |= classTypes
	case "benchmark", "benchmarks", "bench", "performance":
		a.wanted |= classBench
	case "config", "configuration", "ci", "workflow", "pipeline", "dependencies", "makefile", "dockerfile":
		a.wanted |= classConfig
	case "css", "scss", "sass", "style", "styles", "styling", "stylesheet", "stylesheets", "theme", "themes", "color", "colors", "colour", "colours", "font", "fonts":
		a.wanted |= classStyle
	case "html", "svg", "markup", "template", "templates":
		a.wanted |= classMarkup
	case "wrapper", "wrappers", "configure":
		a.wanted |= classWrapper
	}
}

// wants lifts the penalties of what the filters ask for.
func (a *analyzed) wants(q *Query) {
	for t, r := range map[Type]fileClass{TypeTest: classTest, TypeDoc: classDoc, TypeConfig: classConfig | classWrapper, TypeMarkup: classStyle | classMarkup} {
		if slices.Contains(q.Types, t) {
			a.ask(r)
		}
	}
	if q.Mode == ModeDocs {
		a.ask(classDoc)
	}
}

func (a *analyzed) ask(r fileClass) { a.wanted, a.asked = a.wanted|r, a.asked|r }

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

func plainWord(w string) bool {
	if len(w) < 3 {
		return false
	}
	for _, r := range w {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return true
}

// wholeName answers the name when all of the query is one: a single word of
// identifier characters, perhaps after a declaring keyword.
func wholeName(fields []string) (queryName, bool) {
	if len(fields) == 2 && symbolKeywords[fields[0]] {
		fields = fields[1:]
	}
	if len(fields) != 1 {
		return queryName{}, false
	}
	return splitName(fields[0])
}

// identifier answers the name a word of a longer query surely is: it has an
// inner capital, an underscore, a digit between letters, or a qualifier.
func identifier(word string) (queryName, bool) {
	word = strings.TrimFunc(word, func(r rune) bool { return notWord(r) && r != '$' && r != '#' && r != '@' })
	name, ok := splitName(word)
	if !ok {
		return queryName{}, false
	}
	if name.owner != "" || strings.Contains(name.written, "_") {
		return name, true
	}
	lower, upperAfter := false, false
	for i, r := range name.written {
		if unicode.IsLower(r) {
			lower = true
		}
		if i > 0 && unicode.IsUpper(r) {
			upperAfter = true
		}
	}
	return name, lower && upperAfter
}

// splitName reads a possibly qualified identifier.
func splitName(word string) (queryName, bool) {
	word = strings.TrimSuffix(word, "()")
	word = strings.TrimLeft(word, ".#@$&*:")
	word = strings.TrimRight(word, "?!,.;:")
	if word == "" {
		return queryName{}, false
	}
	start := 0
	owner := ""
	for i := 0; i < len(word); {
		rest := word[i:]
		sep := 0
		switch {
		case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "->"):
			sep = 2
		case rest[0] == '.', rest[0] == '#', rest[0] == '\\':
			sep = 1
		}
		if sep > 0 {
			if i == start {
				return queryName{}, false
			}
			owner = strings.ToLower(word[start:i])
			i += sep
			start = i
			continue
		}
		r := rune(rest[0])
		if r < 0x80 && !isNameByte(rest[0]) {
			return queryName{}, false
		}
		i++
	}
	last := word[start:]
	if last == "" || last[0] >= '0' && last[0] <= '9' {
		return queryName{}, false
	}
	return queryName{written: last, owner: owner}, true
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c == '?' || c == '!' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Topic is what a question about a project as a whole asks for.
type Topic string

// The topics.
const (
	TopicPurpose Topic = "purpose" // what is this repository about
	TopicLayout  Topic = "layout"  // how is it laid out
	TopicStart   Topic = "start"   // where do I start
	TopicEntry   Topic = "entry"   // what is the entry point
	TopicTests   Topic = "tests"   // how do I run the tests
	TopicBuild   Topic = "build"   // how do I build it
	TopicRun     Topic = "run"     // how do I run it
	TopicNeeds   Topic = "needs"   // what does it depend on
)

var (
	// wholeNouns name nothing but a project as a whole, projectWords also what may be meant
	// so.
	wholeNouns   = setOf("project", "repo", "repository", "codebase")
	projectNouns = setOf("project", "repo", "repository", "codebase", "app", "application", "program", "tool", "library", "software", "workspace")
	projectWords = setOf("project", "repo", "repository", "codebase", "app", "application", "program", "tool", "library", "software", "workspace", "source", "sources", "code", "this", "it")
	// anyOf before such a noun means one of many, and not this one: how do I run a program.
	anyOf = setOf("a", "an", "any", "another", "each", "every", "no", "some", "other")
	// requests begin what asks for a topic without a question word.
	requests = setOf("explain", "give", "describe", "show", "tell", "summarize", "summarise", "outline")
	// topicFillers are said with topics and are of none.
	topicFillers = setOf("main", "major", "overall", "key", "brief", "short", "quick", "high", "level", "high-level", "together", "fit", "hang", "describe", "summarize", "summarise", "outline", "help",
		"read", "reading", "first", "look", "begin", "up", "new", "there", "getting", "run", "running", "locally", "machine", "scratch", "properly", "correctly")
)

// topicWords are what each topic is asked for by.
var topicWords = map[Topic]map[string]bool{
	TopicPurpose: setOf("about", "purpose", "overview", "summary", "readme", "introduction"),
	TopicLayout: setOf("laid", "layout", "structure", "structured", "organized", "organised", "organization", "organisation", "folder", "folders", "directory", "directories",
		"architecture", "modules", "components", "packages"),
	TopicStart: setOf("start", "starting", "started", "newcomer", "onboard", "onboarding", "quickstart"),
	TopicEntry: setOf("entry", "entrypoint", "entrypoints", "point", "points"),
	TopicTests: setOf("test", "tests", "tested", "testing", "suite", "unit"),
	TopicBuild: setOf("build", "built", "building", "compile", "compiled", "compiling", "install", "installed", "installing", "set", "setup", "setting"),
	TopicRun:   setOf("launch", "launched", "execute", "executed", "executing"),
	TopicNeeds: setOf("dependency", "dependencies", "depend", "depends", "need", "needs", "require", "requires", "required", "requirements", "prerequisites", "libraries"),
}

// topicsInOrder are all topics, in the order in which a word is looked for.
var topicsInOrder = []Topic{TopicPurpose, TopicLayout, TopicStart, TopicEntry, TopicTests, TopicBuild, TopicRun, TopicNeeds}

// Topics are what a query asks of the project as a whole, in the order of its words; nil for any
// other query. Such a query is prose, and has no word that could be of anything in the project;
// names are what the project is called.
func (q *Query) Topics(names ...string) []Topic {
	if q.Lines != nil || len(q.Phrases) > 0 || q.Narrows() {
		return nil
	}
	words := strings.Fields(strings.ToLower(q.Text))
	named := false
	for i, w := range words {
		words[i] = strings.TrimSuffix(strings.TrimFunc(w, notWord), "'s")
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, words[i]) }) {
			words[i], named = "software", true
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) < 2 {
		return nil
	}
	var topics []Topic
	add := func(t Topic) {
		if !slices.Contains(topics, t) {
			topics = append(topics, t)
		}
	}
	for i, w := range words {
		known := projectWords[w] || stopWords[w] || topicFillers[w] || w == "command" || w == "commands"
		for _, t := range topicsInOrder {
			if topicWords[t][w] {
				known = true
				add(t)
			}
		}
		if !known || i > 0 && projectNouns[w] && anyOf[words[i-1]] {
			return nil
		}
	}
	asked := question{words: words, named: named}
	return asked.of(topics)
}

// question is a query all of whose words may be of a question about a whole project.
type question struct {
	words []string
	// named: the project is called by its name.
	named bool
}

func (q question) has(list ...string) bool {
	return slices.ContainsFunc(q.words, func(w string) bool { return slices.Contains(list, w) })
}

func (q question) any(set map[string]bool) bool {
	return slices.ContainsFunc(q.words, func(w string) bool { return set[w] })
}

// byAsker answers whether somebody asks what to do: how do I, where to.
func (q question) byAsker() bool {
	return q.has("i", "we", "you", "one", "newcomer") || asking[q.words[0]] && q.words[1] == "to"
}

// of are the topics of the question, given those its words are of by themselves; nil if it asks
// for something in the project.
func (q question) of(topics []Topic) []Topic {
	has := func(t Topic) bool { return slices.Contains(topics, t) }
	first := q.words[0]
	ofProject := q.any(projectWords) || q.byAsker()
	// Words that are of a topic only beside others.
	runs := q.has("run", "running", "execute", "executed", "executing", "locally")
	if q.byAsker() && q.has("read", "reading", "first", "look", "begin") && !has(TopicTests) && !has(TopicBuild) && !runs || q.has("begin") && q.any(projectNouns) {
		topics = append(slices.DeleteFunc(topics, func(t Topic) bool { return t == TopicStart }), TopicStart)
	}
	switch {
	case has(TopicTests): // how else it is run is not asked
		topics = slices.DeleteFunc(topics, func(t Topic) bool { return t == TopicRun || t == TopicBuild })
	case runs && !has(TopicRun):
		topics = append(topics, TopicRun)
	case first == "how" && q.byAsker() && q.has("start") && q.any(projectWords): // how do I start it
		topics = append(slices.DeleteFunc(topics, func(t Topic) bool { return t == TopicStart }), TopicRun)
	}
	if len(topics) == 0 {
		return q.ofWhole()
	}
	if q.has("does") && !q.any(wholeNouns) && slices.ContainsFunc(topics, func(t Topic) bool { return t == TopicTests || t == TopicBuild || t == TopicRun }) {
		return nil // how does it run the tests: of what tests others
	}
	runsTests := slices.Contains([]string{"run", "running", "execute"}, first) && slices.Equal(topics, []Topic{TopicTests})
	requested := requests[first] && len(topics) == 1 && (has(TopicPurpose) || has(TopicLayout))
	gettingStarted := first == "getting" && slices.Equal(topics, []Topic{TopicStart})
	if !ofProject && !runsTests && !requested && !gettingStarted && (!asking[first] || len(topics) > 1) {
		return nil // how are packages built: of a program that does so
	}
	return topics
}

// ofWhole are the topics of a question that has a word of none.
func (q question) ofWhole() []Topic {
	about := q.any(projectNouns)
	switch first := q.words[0]; {
	case q.has("entry", "main") && asking[first] && !q.any(projectWords) && !q.byAsker():
		return []Topic{TopicEntry} // where is main
	case first == "what" && (about || q.has("this", "it")) && q.has("is", "does", "do", "for"):
		return []Topic{TopicPurpose} // what is this, what does it do
	case first == "how" && about && q.has("work", "works", "working", "together"), requests[first] && about:
		return []Topic{TopicPurpose, TopicLayout} // how does this project work, explain this codebase
	}
	return nil
}

// HasWords answers whether the text has a word that a search can go by, and not only those of
// which any question is made.
func (q *Query) HasWords() bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(q.Text)), func(w string) bool {
		w = strings.TrimSuffix(strings.TrimFunc(w, notWord), "'s")
		return w != "" && !stopWords[w]
	})
}
