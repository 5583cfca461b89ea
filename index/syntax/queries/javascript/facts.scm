; JavaScript's own part; the rest is in ecmascript.
(class_declaration name: (identifier) @name body: (class_body) @body) @definition.class
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(field_definition property: (_) @name) @definition.field

(class_heritage (identifier) @ref.inherit)
(class_heritage (member_expression object: (_) @qualifier property: (property_identifier) @ref.inherit))
(class_heritage (call_expression arguments: (arguments (identifier) @ref.inherit)))
