; A block is named by its last label; the ones before are its container.
; What is referred to as var.x, module.x and local.x is in such a container.
((block (identifier) @_kind @container.module . (string_lit (template_literal) @name) . (block_start) @body) @definition.module
  (#eq? @_kind "module"))
((block (identifier) @_kind @container.var . (string_lit (template_literal) @name) . (block_start) @body) @definition.var
  (#eq? @_kind "variable"))
((block (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) @body) @definition.var (#eq? @_kind "output"))
(block (string_lit (template_literal) @container) . (string_lit (template_literal) @name) . (block_start) @body) @definition.struct
(config_file (body (block . (identifier) . (string_lit (template_literal) @name) . (block_start) @body) @definition.section))
(config_file (body (block . (identifier) @name . (block_start) @body) @definition.section))
((config_file (body (block . (identifier) @_locals @container.local (body (attribute . (identifier) @name) @definition.var)))) @within
  (#eq? @_locals "locals"))
(config_file (body (attribute . (identifier) @name) @definition.var))
(comment) @comment

((block (identifier) @_module (body (attribute . (identifier) @_source (expression (literal_value (string_lit (template_literal) @import.path)))) @import))
  (#eq? @_module "module") (#eq? @_source "source"))

(function_call . (identifier) @ref.call)
((expression (variable_expr (identifier) @qualifier) . (get_attr (identifier) @ref.use))
  (#not-any-of? @qualifier "data" "each" "count" "self" "path" "terraform"))
((expression (variable_expr (identifier) @_data) . (get_attr (identifier) @qualifier) . (get_attr (identifier) @ref.use)) (#eq? @_data "data"))
