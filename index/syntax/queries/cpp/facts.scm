; C++'s own part; the rest is in c.
(namespace_definition name: [(namespace_identifier) (nested_namespace_specifier)] @name body: (_) @body) @definition.module
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)
  (qualified_identifier scope: (_) @container name: (type_identifier) @name)] body: (_) @body) @definition.class
(struct_specifier name: [(template_type name: (type_identifier) @name)
  (qualified_identifier scope: (_) @container name: (type_identifier) @name)] body: (_) @body) @definition.struct
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.type
(template_declaration) @wrap

; Members, defined in the class …
(field_declaration_list (function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (operator_cast) @name
  ] body: (compound_statement) @body) @definition.method)
(field_declaration_list (template_declaration (function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (operator_cast) @name
  ] body: (compound_statement) @body) @definition.method))
; … declared there …
(field_declaration_list [(function_definition declarator: [
      (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
      (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
      (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))])
    (declaration declarator: [
      (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name)
      (operator_cast) @name])
    (field_declaration declarator: [
      (function_declarator declarator: [(field_identifier) (operator_name)] @name)
      (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
      (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))])] @definition.method)
; The grammar reads `int n = 0;` as it does the end of a pure virtual function.
(function_definition declarator: [
    (field_identifier) @name
    (pointer_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  ] (pure_virtual_clause)) @definition.field
; … or outside of it: T Class::member() {}, up to four qualifiers deep …
(function_definition declarator: (function_declarator declarator: [
    (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name) @container
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name))) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)))) @container
  ]) body: (compound_statement) @body) @definition.method
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name) @container
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name))) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)))) @container
  ])) body: (compound_statement) @body) @definition.method
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name) @container
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)) @container
  ]))) body: (compound_statement) @body) @definition.method
(function_definition declarator: (reference_declarator (function_declarator declarator: [
    (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name) @container
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name))) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)))) @container
  ])) body: (compound_statement) @body) @definition.method
(function_definition declarator: [
    (qualified_identifier name: (operator_cast) @name) @container
    (qualified_identifier name: (qualified_identifier name: (operator_cast) @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (operator_cast) @name))) @container
  ] body: (compound_statement) @body) @definition.method
; … or only said to be as the compiler would make it.
(function_definition declarator: (function_declarator declarator: [
    (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name) @container
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name))) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)))) @container
  ]) [(default_method_clause) (delete_method_clause)]) @definition.method
((declaration declarator: (init_declarator declarator: (reference_declarator (function_declarator declarator: [
    (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name) @container
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name)] @name))) @container
  ])) value: (identifier) @_default)) @definition.method
  (#any-of? @_default "default" "delete") (#not-has-ancestor? @definition.method "compound_statement"))
; Static members, given a value outside of the class.
((declaration declarator: (init_declarator declarator: [
    (qualified_identifier name: (identifier) @name) @container
    (qualified_identifier name: (qualified_identifier name: (identifier) @name)) @container
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (identifier) @name))) @container
    (array_declarator declarator: (qualified_identifier name: (identifier) @name) @container)
  ] value: (_) @body)) @definition.field
  (#not-has-ancestor? @definition.field "compound_statement"))

(function_definition declarator: [
    (function_declarator declarator: [(operator_name) (template_function name: (identifier))] @name)
    (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))
  ] body: (compound_statement) @body) @definition.function
((declaration declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @definition.function
  (#not-has-ancestor? @definition.function "compound_statement"))
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @definition.field

(using_declaration "namespace" (_) @import.path) @import
(using_declaration . (qualified_identifier scope: (_) @import.path name: (identifier) @import.name)) @import
(namespace_alias_definition name: (namespace_identifier) @import.alias (nested_namespace_specifier) @import.path) @import

(call_expression function: (qualified_identifier scope: (_) @qualifier name: (identifier) @ref.call))
(call_expression function: (qualified_identifier scope: (_) @qualifier name: (template_function name: (identifier) @ref.call)))
(call_expression function: (qualified_identifier name: (qualified_identifier scope: (_) @qualifier name: (identifier) @ref.call)))
(call_expression function: (template_function name: (identifier) @ref.call))
(call_expression function: (field_expression argument: (_) @qualifier field: (template_method name: (field_identifier) @ref.call)))
(new_expression type: (type_identifier) @ref.call)
(new_expression type: (template_type name: (type_identifier) @ref.call))
(new_expression type: (qualified_identifier scope: (_) @qualifier name: (type_identifier) @ref.call))
(base_class_clause (type_identifier) @ref.inherit)
(base_class_clause (template_type name: (type_identifier) @ref.inherit))
(base_class_clause (qualified_identifier scope: (_) @qualifier name: (type_identifier) @ref.inherit))
(base_class_clause (qualified_identifier scope: (_) @qualifier name: (template_type name: (type_identifier) @ref.inherit)))
(qualified_identifier scope: (_) @qualifier name: (type_identifier) @ref.use)
