package syntax

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/index/lang"
)

// Local is a name that is bound within one function, with all the places where it
// stands: renaming them changes nothing else.
type Local struct {
	Name string
	// Occurrences are in the order of the text; the first binds the name.
	Occurrences []Span
	// Parameter says that a parameter binds it: callers may name it in languages
	// with named arguments.
	Parameter bool
	// Taken are all other names in the function, and those the file declares and
	// imports.
	Taken map[string]bool
}

// ErrNoLocals is returned for languages whose scopes are not known here.
var ErrNoLocals = errors.New("the scopes of this language are not known")

// binders are the nodes that bind a name, by the field that holds it; * is any
// but one that says what it uses. They are those of all languages with scopes,
// whose grammars use different words.
var binders = map[string][]string{
	// Go
	"parameter_declaration": {"name", "declarator"}, "variadic_parameter_declaration": {"name"},
	"short_var_declaration": {"left"}, "var_spec": {"name"}, "const_spec": {"name"},
	"range_clause": {"left"}, "receive_statement": {"left"}, "type_switch_statement": {"alias"},
	// Python
	"parameters": {"*"}, "lambda_parameters": {"*"}, "default_parameter": {"name"}, "typed_parameter": {"*"},
	"typed_default_parameter": {"name"}, "assignment": {"left"}, "for_statement": {"left"}, "for_in_clause": {"left"},
	"named_expression": {"name"}, "as_pattern_target": {"*"},
	// JavaScript, TypeScript
	"formal_parameters": {"*"}, "required_parameter": {"pattern"}, "optional_parameter": {"pattern"},
	"variable_declarator": {"name"}, "for_in_statement": {"left"}, "catch_clause": {"parameter"}, "arrow_function": {"parameter"},
	// Rust
	"parameter": {"pattern"}, "let_declaration": {"pattern"}, "for_expression": {"pattern"}, "closure_parameters": {"*"},
	"match_pattern": {"*"}, "let_condition": {"pattern"},
	// Java
	"formal_parameter": {"name"}, "enhanced_for_statement": {"name"}, "catch_formal_parameter": {"name"}, "resource": {"name"},
	"lambda_expression": {"parameters"}, "inferred_parameters": {"*"},
	// C, C++
	"declaration": {"declarator"}, "for_range_loop": {"declarator"},
}

// carriers stand between a name and its binder.
var carriers = map[string][]string{
	"expression_list": {"*"}, "pattern_list": {"*"}, "tuple_pattern": {"*"}, "list_pattern": {"*"}, "object_pattern": {"*"},
	"array_pattern": {"*"}, "pair_pattern": {"value"}, "assignment_pattern": {"left"}, "object_assignment_pattern": {"left"},
	"rest_pattern": {"*"}, "list_splat_pattern": {"*"}, "dictionary_splat_pattern": {"*"}, "tuple_struct_pattern": {"*"},
	"slice_pattern": {"*"}, "mut_pattern": {"*"}, "ref_pattern": {"*"}, "reference_pattern": {"*"}, "captured_pattern": {"*"},
	"pointer_declarator": {"declarator"}, "array_declarator": {"declarator"}, "reference_declarator": {"*"}, "init_declarator": {"declarator"},
}

// elsewhere are the places of names that are no variables: members, named
// arguments, parts of a path.
var elsewhere = map[string][]string{
	"attribute": {"attribute"}, "keyword_argument": {"name"}, "field_access": {"field"}, "method_invocation": {"name"},
	"scoped_identifier": {"*"}, "qualified_identifier": {"name"}, "macro_invocation": {"macro"}, "labeled_statement": {"*"},
	"break_statement": {"*"}, "continue_statement": {"*"}, "annotation": {"name"}, "element_value_pair": {"key"},
	"tuple_struct_pattern": {"type"}, "method_reference": {"*"},
}

// unclear are the places where a name may be a member as well as a variable.
var unclear = map[string]bool{
	"shorthand_property_identifier": true, "shorthand_property_identifier_pattern": true, "shorthand_field_identifier": true,
	"shorthand_field_initializer": true, "global_statement": true, "nonlocal_statement": true, "preproc_function_def": true,
}

var functionNodes = set("function_declaration method_declaration func_literal function_definition lambda function_expression function " +
	"arrow_function method_definition generator_function generator_function_declaration function_item closure_expression " +
	"constructor_declaration compact_constructor_declaration lambda_expression")

// blockNodes end the scope of what is bound in them, besides functions.
var blockNodes = set("block statement_block compound_statement match_arm for_statement for_in_statement for_expression for_range_loop " +
	"enhanced_for_statement if_statement if_expression while_expression expression_switch_statement type_switch_statement " +
	"communication_case expression_case default_case type_case switch_block_statement_group catch_clause try_with_resources_statement " +
	"list_comprehension set_comprehension dictionary_comprehension generator_expression")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// FindLocal finds the local name at a byte of a text. It errs on the side of
// finding none: the error says why the name is not surely local to a function.
func FindLocal(language string, src []byte, at int) (*Local, error) {
	language = lang.Canonical(language)
	if l := languages[language]; l == nil || !l.scopes {
		return nil, ErrNoLocals
	}
	t, err := Parse(language, src)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	tree := t.copyTree()
	if tree == nil {
		return nil, errNoTree
	}
	defer tree.Close()
	nodes, release := tree.Nodes()
	defer release()
	s := scopes{language: language, src: src, nodes: nodes, name: symbolNames(language), field: fieldNames(language)}
	file, bySyntax := t.analyze()
	if !bySyntax {
		return nil, errNoTree // what it declares is not known
	}
	return s.find(at, file)
}

// scopes looks at the names of one tree.
type scopes struct {
	language string
	src      []byte
	nodes    []node
	name     func(symbol uint16) string
	field    func(field uint16) string
}

func (s *scopes) kind(i uint32) string { return s.name(s.nodes[i].Symbol) }

func (s *scopes) text(i uint32) string { return string(s.src[s.nodes[i].Start:s.nodes[i].End]) }

// isNamed says whether a node fills one of the fields that a table has for its
// parent.
func (s *scopes) isNamed(i uint32, table map[string][]string) bool {
	fields := table[s.kind(s.nodes[i].Parent)]
	f := s.field(s.nodes[i].Field)
	return slices.Contains(fields, f) || slices.Contains(fields, "*") && f != "type" && f != "value"
}

func (s *scopes) find(at int, file *File) (*Local, error) {
	leaf, ok := s.identifierAt(at)
	if !ok {
		return nil, errors.New("there is no name of a variable here")
	}
	l := &Local{Name: s.text(leaf), Taken: map[string]bool{}}
	scope, ok := s.outermostFunction(leaf)
	if !ok {
		return nil, fmt.Errorf("%s stands in no function", l.Name)
	}
	if err := l.declaredOutside(file, s.nodes[scope], s.language); err != nil {
		return nil, err
	}
	occurrences, err := s.occurrences(scope, l)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(occurrences, leaf) {
		return nil, fmt.Errorf("%s is no variable here", l.Name)
	}
	if err := s.allBound(occurrences, scope, l); err != nil {
		return nil, err
	}
	lines := newLineTable(s.src)
	for _, i := range occurrences {
		l.Occurrences = append(l.Occurrences, lines.span(s.nodes[i].Start, s.nodes[i].End))
	}
	return l, nil
}

func (s *scopes) identifierAt(at int) (leaf uint32, ok bool) {
	for i := range s.nodes {
		n := &s.nodes[i]
		if int(n.Start) <= at && at <= int(n.End) && n.Next == uint32(i)+1 && s.kind(uint32(i)) == "identifier" {
			return uint32(i), true
		}
	}
	return 0, false
}

// outermostFunction is the function around a node that no other is around.
func (s *scopes) outermostFunction(i uint32) (scope uint32, ok bool) {
	for p := s.nodes[i].Parent; ; p = s.nodes[p].Parent {
		if functionNodes[s.kind(p)] {
			scope, ok = p, true
		}
		if p == s.nodes[p].Parent {
			return scope, ok
		}
	}
}

// declaredOutside says whether the file has the name for something else, too. A
// member that is only reached through its object does not count.
func (l *Local) declaredOutside(file *File, scope node, language string) error {
	bare := language == "java" || language == "cpp" // where a member's name alone may mean it
	for _, d := range file.Symbols {
		l.Taken[d.Name] = true
		member := d.Kind == KindField || d.Kind == KindMethod
		inside := d.NameSpan.Start >= scope.Start && d.NameSpan.End <= scope.End
		if d.Name == l.Name && !inside && (bare || !member) {
			return fmt.Errorf("%s is declared outside of the function, too, at line %d", l.Name, d.NameSpan.StartLine)
		}
	}
	for _, m := range file.Imports {
		last := m.Path[strings.LastIndexAny(m.Path, "./")+1:]
		for _, name := range append([]string{m.Alias, last}, m.Names...) {
			if name != "" {
				l.Taken[name] = true
			}
			if name == l.Name {
				return fmt.Errorf("%s is imported, too, at line %d", l.Name, m.Span.StartLine)
			}
		}
	}
	return nil
}

// occurrences are the nodes that mean the local name; the other names are put into
// Taken.
func (s *scopes) occurrences(scope uint32, l *Local) (occurrences []uint32, err error) {
	end := s.nodes[scope].Next
	for i := scope; i < end; i++ {
		kind, parent := s.kind(i), s.nodes[i].Parent
		leaf := s.nodes[i].Next == i+1
		if !leaf || !strings.HasSuffix(kind, "identifier") && !strings.HasPrefix(kind, "shorthand") {
			if leaf && s.language == "rust" && strings.Contains(kind, "string") && strings.Contains(s.text(i), "{"+l.Name) {
				return nil, fmt.Errorf("%s stands in a format string", l.Name)
			}
			continue
		}
		if s.text(i) != l.Name {
			l.Taken[s.text(i)] = true
			continue
		}
		switch {
		case unclear[kind] || unclear[s.kind(parent)] || s.kind(parent) == "literal_element" && s.nodes[parent].Previous == 0:
			return nil, fmt.Errorf("%s may be the name of a member at line %d", l.Name, 1+strings.Count(string(s.src[:s.nodes[i].Start]), "\n"))
		case kind != "identifier" || s.isNamed(i, elsewhere):
		case s.field(s.nodes[i].Field) == "name" && functionNodes[s.kind(parent)],
			s.kind(parent) == "function_declarator":
			return nil, fmt.Errorf("%s is the name of a function, too", l.Name)
		case s.kind(parent) == "token_tree" && s.nodes[i].Start > 0 && s.src[s.nodes[i].Start-1] == '.':
			// a member within a macro, which has no syntax of its own
		default:
			occurrences = append(occurrences, i)
		}
	}
	return occurrences, nil
}

// binder is the node that makes a name the binding one, 0 if it only uses it.
func (s *scopes) binder(i uint32) uint32 {
	for ; s.nodes[i].Parent != i; i = s.nodes[i].Parent {
		switch {
		case s.isNamed(i, binders):
			return s.nodes[i].Parent
		case !s.isNamed(i, carriers):
			return 0
		}
	}
	return 0
}

// allBound makes sure that every place lies behind and in the scope of a place
// that binds the name.
func (s *scopes) allBound(occurrences []uint32, scope uint32, l *Local) error {
	type binding struct{ at, block uint32 }
	var bound []binding
	for k, i := range occurrences {
		b := s.binder(i)
		if b == 0 {
			continue
		}
		if kind := s.kind(b); k == 0 && (strings.Contains(kind, "param") || kind == "lambda_expression" || kind == "arrow_function") {
			l.Parameter = true
		}
		bound = append(bound, binding{i, s.block(b, scope)})
	}
	for _, i := range occurrences {
		ok := slices.ContainsFunc(bound, func(b binding) bool {
			inside := i >= b.block && i < s.nodes[b.block].Next
			// What a comprehension yields stands before what it binds.
			return inside && (b.at <= i || strings.HasSuffix(s.kind(b.block), "_comprehension") || s.kind(b.block) == "generator_expression")
		})
		if !ok {
			return fmt.Errorf("%s is not bound in the function before line %d", l.Name, 1+strings.Count(string(s.src[:s.nodes[i].Start]), "\n"))
		}
	}
	return nil
}

// block is the node that ends the scope of what a binder binds. Python's blocks
// end none.
func (s *scopes) block(binder, scope uint32) uint32 {
	for i := binder; i != scope; i = s.nodes[i].Parent {
		kind := s.kind(i)
		if functionNodes[kind] || blockNodes[kind] && (s.language != "python" || strings.HasSuffix(kind, "_comprehension") || kind == "generator_expression") {
			return i
		}
	}
	return scope
}

// fieldNames names the fields of a language that has a grammar.
func fieldNames(language string) func(field uint16) string {
	grammar := languages[language].grammar.Language()
	return func(field uint16) string {
		if field == 0 {
			return ""
		}
		return grammar.FieldName(int(field))
	}
}
