; What JavaScript and TypeScript share; names of classes differ (see theirs).
(function_declaration name: (identifier) @name body: (statement_block) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (statement_block) @body) @definition.function

(lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)
    (generator_function body: (_) @body)])) @definition.function
(variable_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function

; Classes that are given to a variable or exported.
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @definition.class
(variable_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @definition.class
((expression_statement (assignment_expression
    left: (member_expression object: (_) @container property: (property_identifier) @name)
    right: (class body: (_) @body))) @definition.class
  (#not-eq? @name "exports"))
((expression_statement (assignment_expression left: (member_expression property: (property_identifier) @_exports)
    right: (class name: (_) @name body: (_) @body))) @definition.class
  (#eq? @_exports "exports"))
((expression_statement (assignment_expression
    left: (member_expression object: (_) @container property: (property_identifier) @name)
    right: (class !name body: (_) @body))) @definition.class
  (#eq? @name "exports"))

(program (lexical_declaration "const" (variable_declarator name: (identifier) @name value: [(object) (array)] @body)) @definition.const)
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name)) @definition.const)
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.var)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @definition.var)
(program (export_statement declaration: (lexical_declaration "const"
  (variable_declarator name: (identifier) @name value: [(object) (array)] @body)) @definition.const))
(program (export_statement declaration: (lexical_declaration "const" (variable_declarator name: (identifier) @name)) @definition.const))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.var))
(program (export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name)) @definition.var))

; Functions given to a member: exports.parse = function () {}, Foo.prototype.bar = () => {}.
((expression_statement (assignment_expression
    left: (member_expression object: (_) @container property: (property_identifier) @name)
    right: [(function_expression body: (_) @body) (arrow_function body: (_) @body)])) @definition.function
  (#not-eq? @name "exports"))
((expression_statement (assignment_expression left: (member_expression property: (property_identifier) @_exports)
    right: (function_expression name: (identifier) @name body: (_) @body))) @definition.function
  (#eq? @_exports "exports"))
((expression_statement (assignment_expression
    left: (member_expression object: (_) @container property: (property_identifier) @name)
    right: [(function_expression !name body: (_) @body) (arrow_function body: (_) @body)])) @definition.function
  (#eq? @name "exports"))

(method_definition name: (_) @name body: (_) @body) @definition.method
; … or to a key of an object that has a name itself.
(variable_declarator value: (object (pair key: (property_identifier) @name
  value: [(function_expression body: (_) @body) (arrow_function body: (_) @body)]) @definition.method))
(export_statement value: (object (pair key: (property_identifier) @name
  value: [(function_expression body: (_) @body) (arrow_function body: (_) @body)]) @definition.method))
(assignment_expression right: (object (pair key: (property_identifier) @name
  value: [(function_expression body: (_) @body) (arrow_function body: (_) @body)]) @definition.method))

(export_statement) @wrap
(comment) @comment

; Imports: `import d, {a, b as c} from "m"`, `import * as n from "m"`, `export … from "m"`, require and dynamic import.
(import_statement source: (string) @import.path) @import
(import_statement (import_clause (identifier) @import.name)) @import
(import_statement (import_clause (named_imports (import_specifier !alias name: (identifier) @import.name)))) @import
(import_statement
  (import_clause (named_imports (import_specifier name: (identifier) @import.name alias: (identifier) @import.alias) @import))
  source: (string) @import.path)
(import_statement (import_clause (namespace_import (identifier) @import.alias))) @import
(export_statement source: (string) @import.path) @import
(export_statement (export_clause (export_specifier !alias name: (identifier) @import.name)) source: (string)) @import
(export_statement (export_clause (export_specifier name: (identifier) @import.name alias: (identifier) @import.alias) @import)
  source: (string) @import.path)
(export_statement (namespace_export (identifier) @import.alias) source: (string) @import.path) @import
(variable_declarator name: (identifier) @import.alias
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.path))
  (#eq? @_require "require")) @import
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.path))
  (#eq? @_require "require")) @import
(call_expression function: (import) arguments: (arguments . (string) @import.path)) @import

; References.
((call_expression function: (identifier) @ref.call) (#not-eq? @ref.call "require"))
(call_expression function: (member_expression object: (_) @qualifier property: [(property_identifier) (private_property_identifier)] @ref.call))
(new_expression constructor: (identifier) @ref.call)
(new_expression constructor: (member_expression object: (_) @qualifier property: (property_identifier) @ref.call))
(call_expression function: (await_expression (identifier) @ref.call))
(decorator (identifier) @ref.call)
