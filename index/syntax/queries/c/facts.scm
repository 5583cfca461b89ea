; C, and the part of C++ that is C.
(function_definition declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ] body: (compound_statement) @body) @definition.function
((declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  ]) @definition.function
  (#not-has-ancestor? @definition.function "compound_statement"))

; A typedef of a struct declares up to two names with the same extent.
(type_definition type: (struct_specifier name: (type_identifier) @name body: (_) @body)) @definition.struct
(type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier name: (type_identifier) @name body: (_) @body)) @definition.enum
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition type: (union_specifier name: (type_identifier) @name body: (_) @body)) @definition.struct
(type_definition type: (union_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (array_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  ]) @definition.type
(struct_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @definition.enum
(enumerator name: (identifier) @name) @definition.const
(field_declaration declarator: [
    (field_identifier) @name
    (pointer_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
    (array_declarator declarator: (field_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))
  ]) @definition.field

((declaration (type_qualifier ["const" "constexpr"]) declarator: (init_declarator declarator: (identifier) @name value: (_) @body)) @definition.const
  (#not-has-ancestor? @definition.const "compound_statement"))
((declaration declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (init_declarator declarator: (array_declarator declarator: (identifier) @name) value: (_) @body)
    (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)) value: (_) @body)
  ]) @definition.var
  (#not-has-ancestor? @definition.var "compound_statement"))

(preproc_def name: (identifier) @name value: (_)) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro
(comment) @comment

(preproc_include path: (_) @import.path) @import

(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression argument: (_) @qualifier field: (field_identifier) @ref.call))
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @ref.call)))
(type_identifier) @ref.use
