(namespace_declaration name: (_) @name body: (_) @body) @definition.module
(file_scoped_namespace_declaration name: (_) @name) @definition.module
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name body: (_) @body) @definition.struct
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_member_declaration name: (identifier) @name) @definition.field
(delegate_declaration name: (identifier) @name) @definition.type

(method_declaration name: (identifier) @name body: (block) @body) @definition.method
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(destructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(operator_declaration operator: _ @name body: (_) @body) @definition.method
(conversion_operator_declaration type: (_) @name body: (_) @body) @definition.method
(indexer_declaration "this" @name accessors: (_) @body) @definition.method
(indexer_declaration "this" @name value: (_) @body) @definition.method
(local_function_statement name: (identifier) @name body: (_) @body) @definition.function
(property_declaration name: (identifier) @name accessors: (_) @body) @definition.field
(property_declaration name: (identifier) @name value: (_) @body) @definition.field
(event_declaration name: (identifier) @name) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
((field_declaration (modifier) @_const (variable_declaration (variable_declarator name: (identifier) @name))) @definition.const
  (#eq? @_const "const"))
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(record_declaration (parameter_list (parameter name: (identifier) @name) @definition.field))
(comment) @comment

(using_directive [(identifier) (qualified_name)] @import.path .) @import
(using_directive name: (identifier) @import.alias) @import

(invocation_expression function: (identifier) @ref.call)
(invocation_expression function: (generic_name (identifier) @ref.call))
(invocation_expression function: (member_access_expression expression: _ @qualifier name: (identifier) @ref.call))
(invocation_expression function: (member_access_expression expression: _ @qualifier name: (generic_name (identifier) @ref.call)))
(invocation_expression function: (conditional_access_expression (member_binding_expression name: (identifier) @ref.call)))
(object_creation_expression type: (identifier) @ref.call)
(object_creation_expression type: (generic_name (identifier) @ref.call))
(object_creation_expression type: (qualified_name qualifier: (_) @qualifier name: (identifier) @ref.call))
(attribute name: (identifier) @ref.use)

(base_list (identifier) @ref.inherit)
(base_list (generic_name (identifier) @ref.inherit))
(base_list (qualified_name qualifier: (_) @qualifier name: (identifier) @ref.inherit))
(base_list (primary_constructor_base_type type: (identifier) @ref.inherit))

((variable_declaration type: (identifier) @ref.use) (#not-eq? @ref.use "var"))
(parameter type: (identifier) @ref.use)
(method_declaration returns: (identifier) @ref.use)
(property_declaration type: (identifier) @ref.use)
(generic_name (identifier) @ref.use)
(type_argument_list (identifier) @ref.use)
(array_type type: (identifier) @ref.use)
(nullable_type type: (identifier) @ref.use)
(cast_expression type: (identifier) @ref.use)
(typeof_expression type: (identifier) @ref.use)
(type_parameter_constraint type: (identifier) @ref.use)
(declaration_pattern type: (identifier) @ref.use)
(catch_declaration type: (identifier) @ref.use)
(foreach_statement type: (identifier) @ref.use)
