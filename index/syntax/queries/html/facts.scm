; An element with an id is a section, one whose name has a dash calls a component.
((element (start_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))) @definition.section
  (#eq? @_id "id"))
(comment) @comment

((script_element (start_tag (attribute (attribute_name) @_src (quoted_attribute_value (attribute_value) @import.path)))) @import (#eq? @_src "src"))
((element (start_tag (tag_name) @_link (attribute (attribute_name) @_href (quoted_attribute_value (attribute_value) @import.path)) @import))
  (#eq? @_link "link") (#eq? @_href "href"))

((start_tag (tag_name) @ref.call) (#match? @ref.call "-"))
((self_closing_tag (tag_name) @ref.call) (#match? @ref.call "-"))
