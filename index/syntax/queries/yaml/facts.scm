; The keys of the first two levels; deeper ones are values to a reader.
((document (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.section))) (#not-eq? @name "<<"))
((document (block_node (block_mapping (block_mapping_pair
  value: (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.section)))))) (#not-eq? @name "<<"))
; An anchor is a type: it can be merged into others.
(anchor (anchor_name) @name) @definition.type
(comment) @comment

((block_mapping_pair key: (_) @_merge value: (flow_node (alias (alias_name) @ref.inherit))) (#eq? @_merge "<<"))
((block_mapping_pair key: (_) @_merge value: (flow_node (flow_sequence (flow_node (alias (alias_name) @ref.inherit))))) (#eq? @_merge "<<"))
(alias (alias_name) @ref.use)
