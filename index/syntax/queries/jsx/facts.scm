; JSX, in JavaScript and in TSX: a component's tag calls it.
((jsx_opening_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z]"))
(jsx_opening_element name: (member_expression object: (_) @qualifier property: (property_identifier) @ref.call))
(jsx_self_closing_element name: (member_expression object: (_) @qualifier property: (property_identifier) @ref.call))
