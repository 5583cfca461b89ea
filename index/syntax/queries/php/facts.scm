(namespace_definition name: (namespace_name) @name) @definition.module
(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.class
(enum_declaration name: (name) @name body: (_) @body) @definition.enum
(enum_case name: (name) @name) @definition.field
(function_definition name: (name) @name body: (_) @body) @definition.function
(method_declaration name: (name) @name body: (_) @body) @definition.method
(method_declaration name: (name) @name) @definition.method
(const_declaration (const_element (name) @name (array_creation_expression) @body)) @definition.const
(const_declaration (const_element . (name) @name)) @definition.const
((function_call_expression function: (name) @_define arguments: (arguments . (argument (string) @name))) @definition.const
  (#eq? @_define "define"))
(property_declaration (property_element (variable_name (name) @name) (property_initializer (array_creation_expression)) @body)) @definition.field
(property_declaration (property_element (variable_name (name) @name))) @definition.field
(declaration_list (method_declaration parameters: (formal_parameters
  (property_promotion_parameter name: (variable_name (name) @name)) @definition.field))) @within
(comment) @comment

(namespace_use_declaration (namespace_use_clause (qualified_name (name) @import.name) @import.path
  (namespace_aliasing_clause (name) @import.alias)) @import)
(namespace_use_declaration (namespace_use_clause . (qualified_name (name) @import.name) @import.path .) @import)
(namespace_use_declaration (namespace_use_clause . (name) @import.path .) @import)
(namespace_use_declaration (namespace_name) @import.path (namespace_use_group
  (namespace_use_group_clause (namespace_name) @import.name (namespace_aliasing_clause (name) @import.alias)) @import))
(namespace_use_declaration (namespace_name) @import.path (namespace_use_group
  (namespace_use_group_clause . (namespace_name) @import.name .) @import))
(require_once_expression (string) @import.path) @import
(require_expression (string) @import.path) @import
(include_once_expression (string) @import.path) @import
(include_expression (string) @import.path) @import

((function_call_expression function: (name) @ref.call) (#not-eq? @ref.call "define"))
(function_call_expression function: (qualified_name (namespace_name_as_prefix) @qualifier (name) @ref.call))
(member_call_expression object: (_) @qualifier name: (name) @ref.call)
(nullsafe_member_call_expression object: (_) @qualifier name: (name) @ref.call)
(scoped_call_expression scope: (_) @qualifier name: (name) @ref.call)
(object_creation_expression (name) @ref.call)
(object_creation_expression (qualified_name (namespace_name_as_prefix) @qualifier (name) @ref.call))
(attribute (name) @ref.use)
(base_clause (name) @ref.inherit)
(base_clause (qualified_name (namespace_name_as_prefix) @qualifier (name) @ref.inherit))
(class_interface_clause (name) @ref.inherit)
(class_interface_clause (qualified_name (namespace_name_as_prefix) @qualifier (name) @ref.inherit))
(use_declaration (name) @ref.inherit)
(use_declaration (qualified_name (name) @ref.inherit))
(named_type (name) @ref.use)
(named_type (qualified_name (namespace_name_as_prefix) @qualifier (name) @ref.use))
(scoped_call_expression scope: (name) @ref.use)
(class_constant_access_expression . (name) @ref.use)
