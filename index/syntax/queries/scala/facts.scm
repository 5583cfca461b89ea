(package_clause name: (_) @name) @definition.module
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(class_definition name: (identifier) @name) @definition.class
(object_definition name: (identifier) @name body: (_) @body) @definition.class
(object_definition name: (identifier) @name) @definition.class
(trait_definition name: (identifier) @name body: (_) @body) @definition.interface
(trait_definition name: (identifier) @name) @definition.interface
(enum_definition name: (identifier) @name body: (_) @body) @definition.enum
(simple_enum_case name: (identifier) @name) @definition.field
(full_enum_case name: (identifier) @name) @definition.field
(type_definition name: (type_identifier) @name) @definition.type
(given_definition name: (identifier) @name body: (_) @body) @definition.const
(extension_definition parameters: (parameters (parameter type: (type_identifier) @name))) @scope

(template_body (function_definition name: (_) @name body: (_) @body) @definition.method)
(enum_body (function_definition name: (_) @name body: (_) @body) @definition.method)
(extension_definition body: (function_definition name: (_) @name body: (_) @body) @definition.method)
(template_body (function_declaration name: (_) @name) @definition.method)
(function_definition name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name) @definition.function
(template_body (val_definition pattern: (identifier) @name value: (_) @body) @definition.field)
(template_body (var_definition pattern: (identifier) @name value: (_) @body) @definition.field)
(template_body (val_declaration name: (identifier) @name) @definition.field)
(template_body (var_declaration name: (identifier) @name) @definition.field)
(compilation_unit (val_definition pattern: (identifier) @name value: (_) @body) @definition.const)
(compilation_unit (var_definition pattern: (identifier) @name value: (_) @body) @definition.var)
(class_parameter name: (identifier) @name) @definition.field
(comment) @comment
(block_comment) @comment

; The parts of a path are joined.
(import_declaration (identifier) @import.path) @import
(import_declaration (identifier) @import.name .) @import
(import_declaration (namespace_selectors (identifier) @import.name)) @import
(import_declaration (namespace_selectors (arrow_renamed_identifier name: (identifier) @import.name))) @import

(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression value: (_) @qualifier field: (identifier) @ref.call))
(call_expression function: (generic_function function: (identifier) @ref.call))
(call_expression function: (generic_function function: (field_expression value: (_) @qualifier field: (identifier) @ref.call)))
(generic_function function: (field_expression value: (_) @qualifier field: (identifier) @ref.call))
(infix_expression left: (_) @qualifier operator: (identifier) @ref.call)
(instance_expression (type_identifier) @ref.call)
(instance_expression (generic_type type: (type_identifier) @ref.call))
(extends_clause (type_identifier) @ref.inherit)
(extends_clause (generic_type type: (type_identifier) @ref.inherit))
(stable_type_identifier (_) @qualifier (type_identifier) @ref.use)
((type_identifier) @ref.use (#not-any-of? @ref.use "String" "Int" "Long" "Boolean" "Unit" "Double" "Float" "Char" "Any"))
