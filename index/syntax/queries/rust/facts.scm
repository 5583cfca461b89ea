; Declarations. An impl block only lends its type's name as the container.
(impl_item type: [(type_identifier) @name (generic_type type: (type_identifier) @name)
  (scoped_type_identifier name: (type_identifier) @name) (reference_type type: (type_identifier) @name)]) @scope

(impl_item body: (declaration_list (function_item name: (identifier) @name body: (block) @body) @definition.method))
(trait_item body: (declaration_list (function_item name: (identifier) @name body: (block) @body) @definition.method))
(function_item name: (identifier) @name body: (block) @body) @definition.function
(trait_item body: (declaration_list (function_signature_item name: (identifier) @name) @definition.method))
(function_signature_item name: (identifier) @name) @definition.function

(struct_item name: (type_identifier) @name body: (field_declaration_list) @body) @definition.struct
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_item name: (type_identifier) @name body: (_) @body) @definition.enum
(enum_variant name: (identifier) @name) @definition.field
(field_declaration name: (field_identifier) @name) @definition.field
(trait_item name: (type_identifier) @name body: (_) @body) @definition.interface
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(const_item name: (identifier) @name) @definition.const
(static_item name: (identifier) @name) @definition.var
(mod_item name: (identifier) @name body: (_) @body) @definition.module
(macro_definition name: (identifier) @name (macro_rule) @body) @definition.macro
(macro_definition name: (identifier) @name) @definition.macro

(attribute_item) @leading
(line_comment) @comment
(block_comment) @comment

; Imports: `use a::b`, `use a::{b, c as d}`, `use a::*`, `mod m;`, `extern crate`.
(use_declaration argument: (scoped_identifier name: (identifier) @import.name) @import.path) @import
(use_declaration argument: (identifier) @import.path) @import
(use_declaration argument: (use_as_clause path: (_) @import.path alias: (identifier) @import.alias)) @import
(use_declaration argument: (use_wildcard (_) @import.path)) @import
(use_declaration argument: (scoped_use_list path: (_) @import.path list: (use_list (identifier) @import.name))) @import
(use_declaration argument: (scoped_use_list path: (_) @import.path list: (use_list (self)))) @import
(use_declaration argument: (scoped_use_list path: (_) @import.path list: (use_list
  (use_as_clause path: (_) @import.name alias: (identifier) @import.alias) @import)))
(use_list (scoped_identifier name: (identifier) @import.name) @import @import.path)
(use_list (scoped_use_list path: (_) @import.path list: (use_list (identifier) @import.name)) @import)
(use_list (use_wildcard (_) @import.path) @import)
(use_declaration argument: (scoped_use_list path: (_) @import.prefix list: (use_list) @import.group))
(use_list (scoped_use_list path: (_) @import.prefix list: (use_list) @import.group))
(mod_item !body name: (identifier) @import @import.path)
(extern_crate_declaration name: (identifier) @import.path) @import

; References.
(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression value: (_) @qualifier field: (field_identifier) @ref.call))
(call_expression function: (scoped_identifier path: (_) @qualifier name: (identifier) @ref.call))
(call_expression function: (generic_function function: (identifier) @ref.call))
(call_expression function: (generic_function function: (scoped_identifier path: (_) @qualifier name: (identifier) @ref.call)))
(call_expression function: (generic_function function: (field_expression value: (_) @qualifier field: (field_identifier) @ref.call)))
(macro_invocation macro: (identifier) @ref.call)
(macro_invocation macro: (scoped_identifier path: (_) @qualifier name: (identifier) @ref.call))
(token_tree (identifier) @ref.call . (token_tree "("))

(impl_item trait: (type_identifier) @ref.inherit)
(impl_item trait: (generic_type type: (type_identifier) @ref.inherit))
(impl_item trait: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.inherit))
(trait_item bounds: (trait_bounds (type_identifier) @ref.inherit))
(trait_item bounds: (trait_bounds (generic_type type: (type_identifier) @ref.inherit)))
(trait_item bounds: (trait_bounds (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.inherit)))

(scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.use)
((type_identifier) @ref.use (#not-eq? @ref.use "Self"))
(struct_expression name: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @ref.use))
