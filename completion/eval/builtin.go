package eval

import (
	"strings"

	"quarry/index/lang"
)

// builtin are, by language, names that the language's own library gives the
// values everybody handles: strings, collections, iterators, options, promises.
// A call of one of them says nothing of the one function of that name that the
// repository happens to declare.
var builtin = func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for languages, names := range map[string]string{
		"javascript typescript typescriptreact": `all allSettled apply assign at bind call catch charAt charCodeAt clear concat create define delete
			entries every exec fill filter finally find findIndex flat flatMap floor forEach freeze from fromEntries get
			getOwnPropertyDescriptor has hasOwnProperty includes indexOf isArray isFinite isInteger isNaN join json keys lastIndexOf log map match
			max message min next null now of parse pop push race raw reduce reject repeat replace resolve reverse set shift slice some sort
			splice split startsWith endsWith stringify substring test text then throw toFixed toISOString toJSON toLowerCase toString
			toUpperCase trim unshift values write`,
		"rust": `all and_then any as_bytes as_deref as_mut as_ref as_slice as_str borrow borrow_mut by_ref bytes chain chars checked_add
			clone cloned cmp collect contains contains_key copied count default deref drain drop dyn_into ends_with entry enumerate eq err expect
			extend filter filter_map find first flat_map flatten flush fmt fold from get get_mut get_or_insert_with hash insert into into_inner
			into_iter is_empty is_err is_none is_ok is_some is_some_and iter iter_mut join keys last len lines load lock map map_err max min new
			next ok ok_or or or_else parse path pop position push push_str read recv remove replace retain rev scope send size_hint skip sort
			spawn split starts_with store sum swap take to_owned to_string to_vec trim truncate try_from try_into unwrap unwrap_err unwrap_or
			unwrap_or_default unwrap_or_else values wait write zip`,
		"python": `add all any append close copy count decode dict encode endswith enumerate exit extend filter find format get getattr group hasattr
			index insert int isinstance items iter join keys len list lower lstrip map match max min next open pop print put range read readline
			remove repr replace reverse rstrip search seek send set setdefault sort sorted split startswith str strip sub sum super tuple type
			update upper values write zip`,
		"ruby": `all? any? call class collect count default delete dig dup each each_key each_pair each_value each_with_index empty? fetch find first
			flatten format freeze gsub has_key? include? inject inspect instance_eval is_a? join key? keys last length map map! match max merge
			merge! min new nil? open pop print private puts raise read reject replace respond_to? reverse select send shift size slice sort split
			start_with? store strip sub tap to_a to_h to_i to_proc to_s to_str to_sym update upcase downcase values write zip`,
		"java kotlin scala": `add addAll all any append apply clear clone close collect compareTo complete contains containsKey copy count
			drop empty equals exists filter find findFirst first flatMap flatten flush fold foldLeft forEach foreach format get getClass getKey
			getMessage getName getOrDefault getOrElse getValue hasNext hashCode head indexOf isDefined isEmpty isPresent iterator join joinToString
			keySet last length let list map max min name next nonEmpty of orElse orElseThrow parse print println put putAll read reduce remove
			replace reverse run set size skip sort split startsWith endsWith stream sum tail take test toArray toList toLowerCase toMap toSet
			toString toUpperCase trim valueOf values with write zip`,
		"csharp": `Add AddRange All Any Append Cast Clear Close Contains ContainsKey Count Create Dispose EndsWith Equals First FirstOrDefault
			Format Get GetHashCode GetType IndexOf Insert Invoke IsNullOrEmpty Join Last Max Min Next OrderBy Parse Read Remove Replace Reverse
			Select SelectMany Set Single Skip Sort Split StartsWith Sum Take ToArray ToDictionary ToList ToLower ToString ToUpper Trim
			TryGetValue TryParse Union Where Write WriteLine Zip`,
		"swift": `add allSatisfy append compactMap contains count dropFirst dropLast enumerated filter first firstIndex flatMap forEach
			formUnion hasPrefix hasSuffix hash insert isEmpty joined last lowercased map max min prefix reduce remove removeAll removeFirst removeLast
			removeValue reversed sorted split suffix uppercased zip`,
		"c cpp": `append at back begin c_str clear close count data emplace emplace_back empty end erase exit find free front get insert length lock
			malloc max memcmp memcpy memset min move open pop_back printf push push_back read reset resize size strlen substr swap unlock write`,
		"php": `add all append call close count current each format get has implode in_array isset join key map merge next offsetGet push
			read replace reset set sort split strtolower trim write`,
		"go":     `Add Close Error Get Len Less Lock New Read String Swap Unlock Write append cap close copy len make new panic print println`,
		"lua":    `assert concat close error find format gmatch gsub insert ipairs len lower match next open pairs print rawget rep remove select sort sub tonumber tostring type unpack upper write`,
		"elixir": `apply count empty? filter get inspect join length map max merge min new put raise reduce replace reverse send size split to_string update`,
	} {
		set := map[string]bool{}
		for _, name := range strings.Fields(names) {
			set[name] = true
		}
		for _, language := range strings.Fields(languages) {
			m[language] = set
		}
	}
	return m
}()

// isTest answers whether a path looks like one of a test.
func isTest(name string) bool {
	return lang.IsTest(name) || strings.Contains("/"+name, "/test/") || strings.Contains("/"+name, "/tests/")
}
