package retrieval

import (
	"slices"
	"testing"
)

func TestTopics(t *testing.T) {
	for query, want := range map[string][]Topic{
		"what is this repository about":          {TopicPurpose},
		"What is this project about?":            {TopicPurpose},
		"what does this app do":                  {TopicPurpose},
		"what is it":                             {TopicPurpose},
		"project overview":                       {TopicPurpose},
		"how is it laid out":                     {TopicLayout},
		"how is the code organized":              {TopicLayout},
		"what's the structure of this codebase":  {TopicLayout},
		"where do I start":                       {TopicStart},
		"where do I start reading the code":      {TopicStart},
		"what is the entry point":                {TopicEntry},
		"where is the main entry point":          {TopicEntry},
		"run the test suite":                     {TopicTests},
		"running the tests":                      {TopicTests},
		"which commands do I use to test it":     {TopicTests},
		"what does ferry do":                     {TopicPurpose},
		"how do I build Ferry?":                  {TopicBuild},
		"how do I run the tests":                 {TopicTests},
		"how are the tests run?":                 {TopicTests},
		"how do I build this project":            {TopicBuild},
		"how do I run it locally":                {TopicBuild},
		"what does it depend on":                 {TopicNeeds},
		"which libraries does this project need": {TopicNeeds},

		// These have a word of something in the project, or are no questions.
		"how is the server started":       nil,
		"where does the parser start":     nil,
		"how do I test a handler":         nil,
		"what does the retry do":          nil,
		"test suite":                      nil,
		"what does harbour do":            nil,
		"which commands does it run":      nil,
		"run the test server":             nil,
		"how does ferry sail":             nil,
		"build first":                     nil,
		"run":                             nil,
		"main":                            nil,
		"":                                nil,
		"how do I run the tests lang:go":  nil,
		`what is "this repository" about`: nil,
		"re:what is this":                 nil,
		"how does it work":                nil,
		"how are packages built":          nil,
	} {
		q := Parse(query, noon)
		if got := q.Topics("ferry"); !slices.Equal(got, want) {
			t.Errorf("%q asks for %q, want %q", query, got, want)
		}
	}
}
