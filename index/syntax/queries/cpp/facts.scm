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
  ] body: (compound_statement) @body) @definition.method)
(field_declaration_list (template_declaration (function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ] body: (compound_statement) @body) @definition.method))
; … declared there …
(field_declaration_list [(function_definition declarator: [
      (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
      (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
      (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))])
    (declaration declarator: (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name))
    (field_declaration declarator: [
      (function_declarator declarator: [(field_identifier) (operator_name)] @name)
      (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
      (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))])] @definition.method)
; … or outside of it: T Class::member() {}
(function_definition declarator: [
    (function_declarator declarator: (qualified_identifier scope: (_) @container
      name: [(identifier) (destructor_name) (operator_name)] @name))
    (function_declarator declarator: (qualified_identifier name: (qualified_identifier scope: (_) @container
      name: [(identifier) (destructor_name) (operator_name)] @name)))
    (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier scope: (_) @container name: (identifier) @name)))
    (reference_declarator (function_declarator declarator: (qualified_identifier scope: (_) @container
      name: [(identifier) (operator_name)] @name)))
  ] body: (compound_statement) @body) @definition.method

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
