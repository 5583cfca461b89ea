(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name) body: (_) @body) @scope
(class_declaration declaration_kind: "struct" name: (type_identifier) @name body: (_) @body) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name body: (_) @body) @definition.enum
(class_declaration name: (type_identifier) @name body: (_) @body) @definition.class
(protocol_declaration name: (type_identifier) @name body: (_) @body) @definition.interface
(enum_entry name: (simple_identifier) @name) @definition.field
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

(class_body (function_declaration name: (simple_identifier) @name body: (_) @body) @definition.method)
(enum_class_body (function_declaration name: (simple_identifier) @name body: (_) @body) @definition.method)
(function_declaration name: (simple_identifier) @name body: (_) @body) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.method
(class_body (function_declaration name: [(custom_operator) (bang) "+" "-" "*" "/" "%" "<" ">" "<=" ">=" "==" "===" "!=" "+=" "-="] @name body: (_) @body) @definition.method)
(function_declaration name: [(custom_operator) (bang) "+" "-" "*" "/" "%" "<" ">" "<=" ">=" "==" "===" "!=" "+=" "-="] @name body: (_) @body) @definition.function
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(init_declaration name: "init" @name body: (_) @body) @definition.method
(subscript_declaration "subscript" @name (computed_property) @body) @definition.method
(macro_declaration (simple_identifier) @name) @definition.macro

(source_file (property_declaration (value_binding_pattern mutability: "let") name: (pattern bound_identifier: (simple_identifier) @name)) @definition.const)
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.var)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_) @body) @definition.field)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_) @body) @definition.field)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field
(comment) @comment
(multiline_comment) @comment

(import_declaration (identifier) @import.path) @import

(call_expression . (simple_identifier) @ref.call)
(call_expression . (navigation_expression target: (_) @qualifier suffix: (navigation_suffix suffix: (simple_identifier) @ref.call)))
(inheritance_specifier inherits_from: (user_type (type_identifier) @ref.inherit))
((user_type (type_identifier) @ref.use)
  (#not-any-of? @ref.use "String" "Int" "Bool" "Double" "Float" "Void" "Any" "Character" "Self"))
