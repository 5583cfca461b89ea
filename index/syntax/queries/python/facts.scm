; Declarations. The doc string is the first statement of the body.
(class_definition name: (identifier) @_class body: (block (function_definition name: (identifier) @name
  body: (block . (expression_statement . (string) @doc)) @body) @definition.method))
(class_definition body: (block (function_definition name: (identifier) @name body: (block) @body) @definition.method))
(class_definition body: (block (decorated_definition definition: (function_definition name: (identifier) @name
  body: (block . (expression_statement . (string) @doc)) @body) @definition.method)))
(class_definition body: (block (decorated_definition definition: (function_definition name: (identifier) @name
  body: (block) @body) @definition.method)))
; … under an if or a try of the class.
((function_definition name: (identifier) @name
    body: (block . (expression_statement . (string) @doc)) @body) @definition.method
  (#has-ancestor? @definition.method "class_definition") (#not-has-ancestor? @definition.method "function_definition"))
((function_definition name: (identifier) @name body: (block) @body) @definition.method
  (#has-ancestor? @definition.method "class_definition") (#not-has-ancestor? @definition.method "function_definition"))

(function_definition name: (identifier) @name
  body: (block . (expression_statement . (string) @doc)) @body) @definition.function
(function_definition name: (identifier) @name body: (block) @body) @definition.function

(class_definition name: (identifier) @name superclasses: (argument_list
    [(identifier) @_base (attribute attribute: (identifier) @_base)])
  body: (block . (expression_statement . (string) @doc)) @body
  (#any-of? @_base "Enum" "IntEnum" "StrEnum" "Flag" "IntFlag")) @definition.enum
(class_definition name: (identifier) @name superclasses: (argument_list
    [(identifier) @_base (attribute attribute: (identifier) @_base)])
  body: (block) @body
  (#any-of? @_base "Enum" "IntEnum" "StrEnum" "Flag" "IntFlag")) @definition.enum
(class_definition name: (identifier) @name
  body: (block . (expression_statement . (string) @doc)) @body) @definition.class
(class_definition name: (identifier) @name body: (block) @body) @definition.class

; What is assigned at the top of the file, under a try or an if as well; under a with only
; constants, since the rest is what a script needs there.
((expression_statement (assignment left: (identifier) @name right: [(dictionary) (list) (set) (lambda)] @body) @definition.const)
  (#match? @name "^_*[A-Z][A-Z0-9_]*$") (#not-has-ancestor? @definition.const "function_definition" "class_definition" "for_statement" "while_statement"))
((expression_statement (assignment left: [(identifier) @name (pattern_list [(identifier) @name (list_splat_pattern (identifier) @name)])
  (tuple_pattern (identifier) @name) (list_pattern (identifier) @name)]) @definition.const)
  (#match? @name "^_*[A-Z][A-Z0-9_]*$") (#not-has-ancestor? @definition.const "function_definition" "class_definition" "for_statement" "while_statement"))
((expression_statement (assignment right: (assignment left: (identifier) @name)) @definition.const)
  (#match? @name "^_*[A-Z][A-Z0-9_]*$") (#not-has-ancestor? @definition.const "function_definition" "class_definition" "for_statement" "while_statement"))
((expression_statement (assignment left: (identifier) @name right: [(dictionary) (list) (set) (lambda)] @body) @definition.var)
  (#not-has-ancestor? @definition.var "function_definition" "class_definition" "for_statement" "while_statement" "with_statement"))
((expression_statement (assignment left: [(identifier) @name (pattern_list [(identifier) @name (list_splat_pattern (identifier) @name)])
  (tuple_pattern (identifier) @name) (list_pattern (identifier) @name)]) @definition.var)
  (#not-has-ancestor? @definition.var "function_definition" "class_definition" "for_statement" "while_statement" "with_statement"))
((expression_statement (assignment right: (assignment left: (identifier) @name)) @definition.var)
  (#not-has-ancestor? @definition.var "function_definition" "class_definition" "for_statement" "while_statement" "with_statement"))
(module (type_alias_statement . (type [(identifier) @name (generic_type (identifier) @name)])) @definition.type)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @definition.field)))
((expression_statement (assignment left: [(identifier) @name (pattern_list [(identifier) @name (list_splat_pattern (identifier) @name)])
  (tuple_pattern (identifier) @name) (list_pattern (identifier) @name)]) @definition.field)
  (#has-ancestor? @definition.field "class_definition") (#not-has-ancestor? @definition.field "function_definition"))

(module . (expression_statement . (string) @doc))
(module . (comment) . (expression_statement . (string) @doc))

(decorated_definition) @wrap
(decorator) @leading
(comment) @comment

; Imports. `import a, b as c` are two.
(import_statement name: (dotted_name) @import @import.path)
(import_statement name: (aliased_import name: (dotted_name) @import.path alias: (identifier) @import.alias) @import)
(import_from_statement module_name: (_) @import.path name: (dotted_name) @import.name) @import
(import_from_statement module_name: (_) @import.path name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias) @import)
(import_from_statement module_name: (_) @import.path (wildcard_import)) @import

; References.
(call function: (identifier) @ref.call)
(call function: (attribute object: (_) @qualifier attribute: (identifier) @ref.call))
(decorator (identifier) @ref.call)
(decorator (attribute object: (_) @qualifier attribute: (identifier) @ref.call))
(class_definition superclasses: (argument_list (identifier) @ref.inherit))
(class_definition superclasses: (argument_list (attribute object: (_) @qualifier attribute: (identifier) @ref.inherit)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @ref.inherit)))
((type (identifier) @ref.use) (#not-any-of? @ref.use "int" "str" "float" "bool" "bytes" "object" "None"))
(type (attribute object: (_) @qualifier attribute: (identifier) @ref.use))
((generic_type (identifier) @ref.use) (#not-any-of? @ref.use "list" "dict" "set" "tuple" "frozenset" "type"))
(type (binary_operator (identifier) @ref.use))
(type (subscript value: (identifier) @ref.use))
(type (subscript subscript: (identifier) @ref.use))
