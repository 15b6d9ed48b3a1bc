import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('turns Javadoc grids into tables and members into signatures', () => {
  const page = extract(
    `<html><head><meta name="generator" content="javadoc/ClassWriterImpl"></head><body class="class-declaration-page"><header><nav>Overview</nav></header><main role="main"><div class="header"><h1 title="Class Tide" class="title">Class Tide&lt;<a href="T.html">T</a>&gt;</h1></div><section class="summary"><ul class="summary-list"><li><section><h2>Constructor Summary</h2><div class="caption"><span>Constructors</span></div><div class="summary-table two-column-summary"><div class="table-header col-first">Constructor</div><div class="table-header col-last">Description</div><div class="col-constructor-name even-row-color"><code>Tide()</code></div><div class="col-last even-row-color"><div class="block">Makes it.</div></div></div></section></li></ul></section><section class="details"><h2>Method Details</h2><h3>sum</h3><div class="member-signature"><span class="modifiers">public</span>&nbsp;<span class="return-type">int</span>&nbsp;<span class="element-name">sum</span><wbr><span class="parameters">(int&nbsp;a)</span></div><div class="block">Adds.</div></section></main></body></html>`,
  )
  expect(page).toEqual({
    generator: 'javadoc',
    markdown:
      '# Class Tide\\<T>\n\n## Constructor Summary\n\n**Constructors**\n\n| Constructor | Description |\n| --- | --- |\n| `Tide()` | Makes it. |\n\n## Method Details\n\n### sum\n\n`public int sum(int a)`\n\nAdds.\n',
  })
})

test('reads Javadoc pages of JDK 8, which have no main element', () => {
  const page = extract(
    `<body><div class="topNav"><ul class="navList"><li>Overview</li></ul></div><div class="subNav">Summary</div><div class="header"><div class="subTitle">org.example</div><h2 title="Class Tide" class="title">Class Tide</h2></div><div class="contentContainer"><ul class="blockList"><li class="blockList"><table class="memberSummary"><caption><span class="activeTableTab"><span>All Methods</span><span class="tabEnd">&nbsp;</span></span></caption><tr><th>Type</th><th>Method</th></tr><tr><td><code>int</code></td><td><code>sum()</code></td></tr></table></li></ul></div><div class="bottomNav"><ul class="navList"><li>Index</li></ul></div></body>`,
  )
  expect(page).toEqual({
    generator: 'javadoc',
    markdown: 'org.example\n\n## Class Tide\n\n| Type | Method |\n| --- | --- |\n| `int` | `sum()` |\n',
  })
})
