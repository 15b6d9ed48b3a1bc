import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('writes YARD signatures as code, and source code without line numbers', () => {
  const page = extract(
    `<body><div id="main"><div id="header"><div id="menu">Index</div><div id="search"><a class="full_list_link" id="class_list_link" href="c.html"></a></div></div><div id="content"><h1>Class: Tide</h1><h2>Instance Method Details <small><a href="#" class="summary_toggle">collapse</a></small></h2><div class="method_details"><h3 class="signature">#<strong>height</strong>(hour)  ⇒ <tt>Float</tt></h3><div class="tags"><p class="tag_title">Parameters:</p><ul><li>hour</li></ul></div><table class="source_code"><tr><td><pre class="lines">1</pre></td><td><pre class="code">def height</pre></td></tr></table></div></div><div id="footer">Generated</div></div></body>`,
  )
  expect(page).toEqual({
    generator: 'yard',
    markdown:
      '# Class: Tide\n\n## Instance Method Details\n\n### `#height(hour) ⇒ Float`\n\n**Parameters:**\n\n- hour\n\n```ruby\ndef height\n```\n',
  })
})
