; Declarations. Of two patterns with the same @name the earlier one counts.
(function_declaration name: (identifier) @name body: (block) @body) @definition.function
(function_declaration name: (identifier) @name) @definition.function

(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @container
    (generic_type type: (type_identifier) @container)
    (pointer_type (type_identifier) @container)
    (pointer_type (generic_type type: (type_identifier) @container))]))
  name: (field_identifier) @name
  body: (block) @body) @definition.method
(method_declaration name: (field_identifier) @name) @definition.method

(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (type_identifier) @name) @definition.type
(type_alias name: (type_identifier) @name) @definition.type

(source_file (const_declaration (const_spec name: (identifier) @name) @definition.const))
(source_file (var_declaration (var_spec name: (identifier) @name
  value: (expression_list [(composite_literal body: (_) @body) (func_literal body: (_) @body)])) @definition.var))
(source_file (var_declaration (var_spec name: (identifier) @name) @definition.var))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.var)))

(field_declaration name: (field_identifier) @name) @definition.field
(method_elem name: (field_identifier) @name) @definition.method

(type_declaration) @wrap
(const_declaration) @wrap
(var_declaration) @wrap
(comment) @comment

(package_clause (package_identifier) @name) @definition.module

; Imports.
(import_spec path: (_) @import.path) @import
(import_spec name: (_) @import.alias) @import

; References. An embedded field or interface inherits.
((call_expression function: (identifier) @ref.call)
  (#not-any-of? @ref.call "append" "cap" "clear" "close" "copy" "delete" "len" "make" "max" "min" "new" "panic" "print" "println" "recover"))
(call_expression function: (selector_expression operand: (_) @qualifier field: (field_identifier) @ref.call))
(call_expression function: (parenthesized_expression (identifier) @ref.call))
(call_expression function: (type_instantiation_expression type: (type_identifier) @ref.call))

(field_declaration !name type: (type_identifier) @ref.inherit)
(field_declaration !name type: (qualified_type package: (_) @qualifier name: (type_identifier) @ref.inherit))
(field_declaration !name type: (generic_type type: (type_identifier) @ref.inherit))
(interface_type (type_elem (type_identifier) @ref.inherit))
(interface_type (type_elem (qualified_type package: (_) @qualifier name: (type_identifier) @ref.inherit)))

(qualified_type package: (_) @qualifier name: (type_identifier) @ref.use)
((type_identifier) @ref.use
  (#not-any-of? @ref.use "any" "bool" "byte" "comparable" "complex64" "complex128" "error" "float32" "float64" "int"
    "int8" "int16" "int32" "int64" "rune" "string" "uint" "uint8" "uint16" "uint32" "uint64" "uintptr"))
