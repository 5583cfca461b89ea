; The keys of the first two levels; deeper ones are values to a reader.
(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.section)))
(document (block_node (block_mapping (block_mapping_pair
  value: (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.section))))))
(comment) @comment
