(package_header (identifier) @name) @definition.module
(class_declaration "interface" (type_identifier) @name (class_body) @body) @definition.interface
(class_declaration "interface" (type_identifier) @name) @definition.interface
(class_declaration (type_identifier) @name (enum_class_body) @body) @definition.enum
(class_declaration (type_identifier) @name (class_body) @body) @definition.class
(class_declaration (type_identifier) @name) @definition.class
(object_declaration (type_identifier) @name (class_body) @body) @definition.class
(object_declaration (type_identifier) @name) @definition.class
(companion_object (type_identifier) @name (class_body) @body) @definition.class
(enum_entry (simple_identifier) @name) @definition.field
(type_alias (type_identifier) @name) @definition.type

(class_body (function_declaration (simple_identifier) @name (function_body) @body) @definition.method)
(class_body (function_declaration (simple_identifier) @name) @definition.method)
(enum_class_body (function_declaration (simple_identifier) @name (function_body) @body) @definition.method)
(function_declaration (user_type (type_identifier) @container) (simple_identifier) @name
  (function_value_parameters) . (function_body) @body) @definition.method
(function_declaration (user_type (type_identifier) @container) . (simple_identifier) @name) @definition.method
(function_declaration (simple_identifier) @name (function_body) @body) @definition.function
(function_declaration (simple_identifier) @name) @definition.function
(secondary_constructor "constructor" @name) @definition.method

(source_file (property_declaration (modifiers (property_modifier) @_const) (variable_declaration (simple_identifier) @name)) @definition.const
  (#eq? @_const "const"))
(source_file (property_declaration (variable_declaration (simple_identifier) @name)) @definition.var)
(class_body (property_declaration (modifiers (property_modifier) @_const) (variable_declaration (simple_identifier) @name)) @definition.const
  (#eq? @_const "const"))
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @definition.field)
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @definition.field
(line_comment) @comment
(multiline_comment) @comment

(import_header (identifier (simple_identifier) @import.name .) @import.path .) @import
(import_header (identifier (simple_identifier) @import.name .) @import.path (import_alias)) @import
(import_header (identifier) @import.path (wildcard_import)) @import
(import_header (import_alias (type_identifier) @import.alias)) @import

(call_expression . (simple_identifier) @ref.call)
(call_expression . (navigation_expression . (_) @qualifier (navigation_suffix (simple_identifier) @ref.call) .))
(infix_expression . (_) @qualifier . (simple_identifier) @ref.call)
(delegation_specifier (user_type (type_identifier) @ref.inherit))
(delegation_specifier (constructor_invocation (user_type (type_identifier) @ref.inherit)))
(delegation_specifier (explicit_delegation (user_type (type_identifier) @ref.inherit)))
((user_type (type_identifier) @ref.use)
  (#not-any-of? @ref.use "String" "Int" "Long" "Boolean" "Unit" "Double" "Float" "Char" "Byte" "Short" "Any" "Nothing"))
