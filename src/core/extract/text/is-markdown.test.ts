import { expect, test } from 'vitest'
import { isMarkdownText } from './is-markdown.ts'

test.each([
  ['a title and a sentence', '# Widgets\n\nThis guide is about widgets and gears.\n'],
  ['a title and a list', '# Shopping list\n\n- fresh milk\n- eggs\n'],
  ['a title and sections', '# Changelog\n\n## 1.1\n\nFaster\n'],
  ['a heading and a fence', 'Notes\n\n## Use\n\n```js\nfoo()\n```\n'],
  ['a fence and a link', 'See [the guide](/guide).\n\n```sh\nls\n```\n'],
  ['an underlined title, a link and bold text', 'Title\n=====\n\n**Note** [that](https://a.test/b).\n'],
  ['a heading and a table', '## Ports\n\n| name | port |\n|---|---|\n| http | 80 |\n'],
  ['a fence in a list and a link', '- [a](b)\n\n  ```\n  c\n  ```\n'],
])('%s are Markdown', (_, text) => {
  expect(isMarkdownText(text)).toBe(true)
})

test.each([
  ['prose', 'Dear reader,\n\nthis is a letter. It has no marks at all.\n'],
  ['robots.txt', '# All robots are welcome.\n\nUser-agent: *\nDisallow: /private\n'],
  ['a shell script', '#!/bin/sh\n\n# Install it.\n\napt-get update\n\n# Run it.\n\nexec run "$@"\n'],
  ['a script below its title', '# Install\n\nset -e\ncurl -O https://a.test/b\n'],
  ['YAML', '# The services of the test.\n\n- name: a\n- name: b\n'],
  ['Python', '# Calls the handlers.\n\nimport os\n\nhandlers[i](event)\nf(**a, **b)\nprint(2**3**4)\n'],
  ['settings', '# First comment\n# goes on here.\n\n## Section\nkey = value two\n\n## Other\nkey = 3\n'],
  ['ignore rules', '# Build\n\n**/dist/**\n\n# Logs\n\n*.log\n'],
  ['C++', 'auto f = [this](auto) { return 1; };\n'],
  [
    'reStructuredText',
    'Title\n=====\n\n**Note** `the guide <https://a.test>`_\n\n* one\n* two\n\n::\n\n    # Comment\n',
  ],
  ['a script with bold text', '#!/bin/sh\n\n# Usage\n\necho "**Done**"\n'],
  ['a diff of Markdown', '--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,3 @@\n # A\n \n+**Note** [that](https://a.test/b).\n'],
  ['an indented example', 'A text.\n\n    # Title\n\n    [a](b)\n'],
  ['nothing', ''],
])('%s is not Markdown', (_, text) => {
  expect(isMarkdownText(text)).toBe(false)
})
