(package_declaration (_) @name) @definition.module
(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(enum_constant name: (identifier) @name) @definition.field

(method_declaration name: (identifier) @name body: (block) @body) @definition.method
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
((field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (identifier) @name)) @definition.const)
(field_declaration declarator: (variable_declarator name: (identifier) @name value: (array_initializer) @body)) @definition.field
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.const
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @definition.field))

(line_comment) @comment
(block_comment) @comment

; Imports. `import a.b.C` takes C, `import a.b.*` all of a.b.
(import_declaration (scoped_identifier) @import.path (asterisk)) @import
(import_declaration (scoped_identifier name: (identifier) @import.name) @import.path .) @import

; References.
(method_invocation !object name: (identifier) @ref.call)
(method_invocation object: (_) @qualifier name: (identifier) @ref.call)
(object_creation_expression type: (type_identifier) @ref.call)
(object_creation_expression type: (generic_type (type_identifier) @ref.call))
(method_reference . (_) @qualifier (identifier) @ref.call .)
(marker_annotation name: (identifier) @ref.use)
(annotation name: (identifier) @ref.use)

(superclass (type_identifier) @ref.inherit)
(superclass (generic_type (type_identifier) @ref.inherit))
(superclass (scoped_type_identifier (_) @qualifier . (type_identifier) @ref.inherit .))
(type_list (type_identifier) @ref.inherit)
(type_list (generic_type (type_identifier) @ref.inherit))
(type_list (scoped_type_identifier (_) @qualifier . (type_identifier) @ref.inherit .))
(scoped_type_identifier (_) @qualifier . (type_identifier) @ref.use .)
((type_identifier) @ref.use (#not-any-of? @ref.use "String" "Object" "var"))
