; TypeScript's own part; the rest is in ecmascript.
(class_declaration name: (type_identifier) @name body: (class_body) @body) @definition.class
(abstract_class_declaration name: (type_identifier) @name body: (class_body) @body) @definition.class
(interface_declaration name: (type_identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (enum_body) @body) @definition.enum
(enum_body name: (property_identifier) @name @definition.field)
(enum_body (enum_assignment name: (property_identifier) @name) @definition.field)
(type_alias_declaration name: (type_identifier) @name value: (object_type) @body) @definition.type
(type_alias_declaration name: (type_identifier) @name) @definition.type
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module

(function_signature name: (identifier) @name) @definition.function
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(property_signature name: (_) @name) @definition.field
(public_field_definition name: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(public_field_definition name: (_) @name) @definition.field
; Parameters of a constructor that are fields.
(class_body (method_definition parameters: (formal_parameters
  (_ [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name) @definition.field))) @within
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.const)
(ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name)) @definition.var)
(internal_module body: (statement_block (export_statement declaration: (lexical_declaration
  (variable_declarator name: (identifier) @name)) @definition.const)))

(ambient_declaration) @wrap
(expression_statement (internal_module)) @wrap
(class_body (decorator) @leading)
(export_statement (decorator) @leading)

(import_statement (import_require_clause (identifier) @import.alias source: (string) @import.path)) @import

(extends_clause value: (identifier) @ref.inherit)
(extends_clause value: (member_expression object: (_) @qualifier property: (property_identifier) @ref.inherit))
(implements_clause (type_identifier) @ref.inherit)
(implements_clause (generic_type name: (type_identifier) @ref.inherit))
(extends_type_clause type: (type_identifier) @ref.inherit)
(extends_type_clause type: (generic_type name: (type_identifier) @ref.inherit))
(nested_type_identifier module: (_) @qualifier name: (type_identifier) @ref.use)
(type_identifier) @ref.use
