import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { lineOf } from '../../html/tree.ts'
import { indexElements } from '../element-index.ts'
import type { Generator } from '../generators/generator.ts'
import { removeHidden } from './hidden.ts'
import { removeNonText } from './non-text.ts'

/** Text that stays and number of characters that were hidden. */
function remove(html: string, generator?: Generator): { text: string; hiddenChars: number } {
  const root = parseHtml(html)
  let index = indexElements(root)
  if (removeNonText(index)) index = indexElements(root)
  const hiddenChars = removeHidden(index, generator)
  return { text: lineOf(root), hiddenChars }
}

const GONE = { text: 'seen', hiddenChars: 6 }
const STAYS = { text: 'seen hidden', hiddenChars: 0 }

describe('hidden elements', () => {
  test.each([
    ['the hidden attribute', '<p hidden>hidden</p>'],
    ['a closed dialog', '<dialog>hidden</dialog>'],
    ['a closed popover', '<div popover>hidden</div>'],
    ['a closed menu', '<ul class="dropdown-menu" aria-hidden="true"><li>hidden</ul>'],
    ['display:none', '<p style="display:none">hidden</p>'],
    ['display:none in any spelling', '<p style=" color: red; DISPLAY : None !important ">hidden</p>'],
    ['visibility:hidden', '<p style="visibility:hidden">hidden</p>'],
    ['opacity 0', '<p style="opacity:0">hidden</p>'],
    ['font size 0', '<p style="font-size:0px">hidden</p>'],
    ['height 0', '<p style="height:0;overflow:hidden">hidden</p>'],
    ['a box of one pixel', '<p style="width:1px;height:1px;overflow:hidden">hidden</p>'],
    ['a position far left of the page', '<p style="position:absolute;left:-9999px">hidden</p>'],
    ['a position far above the page', '<p style="position:fixed;top:-1000px">hidden</p>'],
    ['a large negative indent', '<p style="text-indent:-9999px">hidden</p>'],
    ['a clip rectangle without area', '<p style="position:absolute;clip:rect(0,0,0,0)">hidden</p>'],
    ['a clip path without area', '<p style="clip-path: inset(50%)">hidden</p>'],
    ['the color of the background', '<p style="color:#fff;background-color:white">hidden</p>'],
    ['opacity 0 in any spelling', '<p style="opacity:.0 ! important">hidden</p>'],
    ['font size 0 in any spelling', '<p style="font-size:0.0px!important">hidden</p>'],
    ['size 0 in the font property', '<p style="font:0/0 a">hidden</p>'],
    ['display:none with a CSS comment in it', '<p style="display:/* x */none">hidden</p>'],
    ['display:none before an invalid value', '<p style="display:none;display:bogus">hidden</p>'],
    ['an important display:none before another value', '<p style="display:none!important;display:block">hidden</p>'],
    [
      'the color of the background in another notation',
      '<p style="color:rgb(255 255 255);background:#FFF none">hidden</p>',
    ],
    ['a transparent color', '<p style="color:transparent">hidden</p>'],
    ['a color with opacity 0', '<p style="color:rgba(0, 0, 0, 0)">hidden</p>'],
    ['a position far left of the page in another unit', '<p style="position:absolute;left:-100vw">hidden</p>'],
    ['a large negative margin', '<p style="margin-left:-9999px">hidden</p>'],
    ['a translation far to the left', '<p style="transform:translateX(-9999px)">hidden</p>'],
    ['scale 0', '<p style="transform:scale(0)">hidden</p>'],
    ['a clip path with an empty circle', '<p style="clip-path:circle(0)">hidden</p>'],
    ['content-visibility:hidden', '<p style="content-visibility:hidden">hidden</p>'],
    ['a class for screen readers', '<p class="sr-only">hidden</p>'],
    ['a class for screen readers of another framework', '<p class="a govuk-visually-hidden">hidden</p>'],
  ])('are dropped: %s', (_, html) => {
    expect(remove(`<p>seen</p> ${html}`)).toEqual(GONE)
  })
})

describe('visible elements', () => {
  test.each([
    ['an element that is hidden until found', '<p hidden="until-found">hidden</p>'],
    ['an element that is hidden from screen readers', '<p aria-hidden="true">hidden</p>'],
    ['an open dialog', '<dialog open>hidden</dialog>'],
    ['closed details', '<details><p>hidden</p></details>'],
    ['a box in a container with font size 0', '<div style="font-size:0"><p class="box">hidden</p></div>'],
    ['a part that will fade in', '<p style="opacity:0;transform:translateY(20px)">hidden</p>'],
    ['a part that a library fades in', '<p data-aos="fade-up" style="opacity:0">hidden</p>'],
    ['a position slightly to the left', '<p style="position:absolute;left:-10px">hidden</p>'],
    ['text with a gradient', '<p style="color:transparent;background-clip:text">hidden</p>'],
    ['text with a shadow', '<p style="color:transparent;text-shadow:0 0 1px red">hidden</p>'],
    ['a negative margin that padding compensates', '<p style="margin-left:-9999px;padding-left:9999px">hidden</p>'],
    ['a slide of a carousel', '<p style="transform:translate3d(-2400px,0,0)">hidden</p>'],
    ['a shadow root', '<template shadowrootmode="open">hidden</template>'],
    ['a class for screen readers that another class undoes', '<p class="sr-only sm:not-sr-only">hidden</p>'],
  ])('are kept: %s', (_, html) => {
    expect(remove(`<p>seen</p> ${html}`)).toEqual(STAYS)
  })
})

describe('hidden parts that open later', () => {
  test.each([
    ['a tab panel', '<ul role="tablist"></ul><div><div role="tabpanel" hidden>hidden</div></div>'],
    ['a pane', '<ul class="nav nav-tabs"></ul><div class="tab-pane" style="display:none">hidden</div>'],
    [
      'a panel of Material for MkDocs',
      '<div class="tabbed-labels"></div><div class="tabbed-content"><div class="tabbed-block" hidden>hidden</div></div>',
    ],
    ['a panel in a set', '<div class="tabs-container"><label></label><div hidden>hidden</div></div>'],
    ['an accordion', '<h3></h3><div class="accordion-body" style="height:0;overflow:hidden">hidden</div>'],
    ['an answer below its question', '<div><button></button></div><div class="faq" hidden>hidden</div>'],
    [
      'a part that a button controls',
      '<button aria-expanded="false" aria-controls="x"></button><p id="x" hidden>hidden</p>',
    ],
    [
      'a part that a Bootstrap link opens',
      '<a data-toggle="collapse" href="#x"></a><p id="x" class="y" hidden>hidden</p>',
    ],
    [
      'a part with a heading that opens it',
      '<h3 id="h"><button></button></h3><div aria-labelledby="h" hidden>hidden</div>',
    ],
    ['a part that React streams', '<script>$RC("B:0","S:0")</script><div hidden id="S:0">hidden</div>'],
    ['a part that Marko streams', '<div style="display:none" id="afx3">hidden</div><script>$afx(3)</script>'],
  ])('are kept: %s', (_, html) => {
    expect(remove(`<p>seen</p> ${html}`)).toEqual(STAYS)
  })

  test.each([
    [
      'a menu',
      '<button aria-expanded="false" aria-controls="x"></button><ul role="menu" id="x" hidden><li>hidden</ul>',
    ],
    ['the menu of a site', '<nav><div class="collapse" style="display:none">hidden</div></nav>'],
    ['a panel without tabs', '<div role="tabpanel" hidden>hidden</div>'],
    ['the only panel of a tab set', '<div class="tabs"><p style="display:none">hidden</p></div>'],
    ['an answer without a question', '<div class="faq toggle collapse" style="display:none">hidden</div>'],
    ['a part whose heading is missing', '<div aria-labelledby="h" hidden>hidden</div>'],
    ['a streamed part that no script puts in place', '<div hidden id="S:0">hidden</div>'],
    ['a dialog', '<div class="modal" role="dialog" aria-labelledby="h" style="display:none">hidden</div>'],
  ])('do not include %s', (_, html) => {
    expect(remove(`<p>seen</p> ${html}`)).toEqual(GONE)
  })

  test('include the elements that the generator keeps', () => {
    const generator: Generator = { name: 'x', meta: [], fingerprints: [], content: [], keepHidden: ['.member'] }
    expect(remove('<p>seen</p> <p class="member" hidden>hidden</p>', generator)).toEqual(STAYS)
  })
})

describe('style sheets in the page', () => {
  const body = '<p class="s">seen</p> <p id="i" class="a b" data-h>hidden</p>'
  test.each([
    ['a class', '.a{display:none}'],
    ['an id', '#i { visibility: hidden }'],
    ['a name with a class', 'p.a{display:none}'],
    ['two classes', '.a.b{display:none}'],
    ['one of several selectors', '.x,\n.a , .y{display:none}'],
    ['a rule for screens', '@media screen{.a{display:none}}'],
    [
      'a rule after comments, strings and addresses',
      '/* } */ .z::before{content:"}{"} .y{background:url(x;y{)} .a{display:none}',
    ],
    [
      'a rule after others that are not read',
      '@import "x"; @font-face{src:url(a)} @keyframes k{from{opacity:0}to{opacity:1}} .a{display:none}',
    ],
    ['a rule after one inside a rule', '.z{color:red;.y{color:blue} margin:0} .a{display:none}'],
    ['the later rule', '.a{display:block}.a{display:none}'],
    ['the stronger rule', '#i{display:none}.a{display:block}'],
    ['the important rule', '.a{display:none!important}#i{display:block}'],
    ['a rule that is undone only on hover', '.a{display:none}.x:hover .a,.a:hover{display:block}'],
    ['a rule that is undone only inside a missing element', '.a{display:none}.open .a{display:block}'],
    ['a rule that is never closed', '.a{display:none'],
    ['a position far left of the page', '.a{position:absolute;left:-9999px}'],
    ['an ancestor of the element', 'main .a,body .a{display:none}'],
    ['the parent of the element', 'body > .a{display:none}'],
    ['an attribute', '[data-h]{display:none}'],
    ['an attribute value', 'p[class="a b"]{display:none}'],
    [':is with a single selector', ':is(.a){display:none}'],
    ['a name with escapes', '.\\61 {display:none}'],
    ['a property with escapes', '.a{d\\69splay:none}'],
    ['a rule in a layer', '@layer x{.a{display:none}}'],
    ['a rule under @supports', '@supports (display:grid){.a{display:none}}'],
    ['a rule for common screens', '@media only screen and (min-width:1px){.a{display:none}}'],
    ['a rule between HTML comment marks', '<!-- .a{display:none} -->'],
    ['a valid value before an invalid one', '.a{display:none;display:bogus}'],
    ['a rule that is undone for no medium', '.a{display:none}@media not all{.a{display:block!important}}'],
    ['a rule that is undone only in print', '.a{display:none}@media print{.a{display:block}}'],
    ['a rule that is undone only on small screens', '.a{display:none}@media (max-width:600px){.a{display:block}}'],
    ['a rule that is undone only inside another element', '.a{display:none}.s .a{display:block}'],
    ['the last of many rules', `${'.a{display:block}'.repeat(60)}.a{display:none}`],
  ])('hide by %s', (_, css) => {
    expect(remove(`<style>${css}</style><body>${body}</body>`)).toEqual(GONE)
  })

  test.each([
    ['font size 0', '.a{font-size:0}'],
    ['opacity 0', '.a{opacity:0}'],
  ])('hide a short text by %s, except with a transition', (_, css) => {
    const text = 'word '.repeat(20)
    expect(remove(`<style>${css}</style><p>${text}</p>${body}`).hiddenChars).toBe(6)
    expect(
      remove(
        `<style>${css.replace('}', ';transition:all 1s}').replace('font-size', 'opacity')}</style><p>${text}</p>${body}`,
      ).hiddenChars,
    ).toBe(0)
  })

  test('an important rule overrides a style attribute', () => {
    const html = '<p>seen</p> <p class="a" style="display:block">hidden</p>'
    expect(remove(`<style>.a{display:none!important}</style>${html}`)).toEqual(GONE)
  })

  test('a sheet for screens applies', () => {
    expect(remove(`<style media="only screen">.a{display:none}</style>${body}`)).toEqual(GONE)
  })

  test.each([
    ['a rule that is undone', '.a{display:none}.a{display:block}'],
    ['a rule that a stronger one undoes', '.a.b{display:block}.a{display:none}'],
    ['a rule that is undone within another element', '.a{display:none}body .a{display:block}'],
    ['a rule that is undone on wide screens', '.a{display:none}@media (min-width:600px){.a{display:block}}'],
    ['a rule that is undone by a checked box', '.a{display:none}input:checked + .a{display:block}'],
    ['a rule for print', '@media print{.a{display:none}}'],
    ['a rule for small screens', '@media (max-width:600px){.a{display:none}}'],
    ['a rule for elements with other ancestors', '.s .a{display:none} body > div > .a{display:none}'],
    ['a state that lasts until scripts run', '.no-js .a{display:none}[x-cloak]{display:none}'],
    ['a rule for another state', '.a:not(.b){display:none}'],
    ['the beginning of an animation', '.a{opacity:0}'],
    ['the closed part of an accordion', '.a{height:0;overflow:hidden}'],
    ['a rule in a comment', '/* .a{display:none} */'],
    ['a rule in a string', '.z{content:".a{display:none}"}'],
  ])('do not hide by %s', (_, css) => {
    expect(remove(`<style>${css}</style><body>${body}</body>`)).toEqual(STAYS)
  })

  test('a style attribute overrides the sheet', () => {
    expect(remove('<style>.a{display:none}</style><p>seen</p> <p class="a" style="display:block">hidden</p>')).toEqual(
      STAYS,
    )
  })

  test('a sheet for print does not apply', () => {
    expect(remove(`<style media="print">.a{display:none}</style>${body}`)).toEqual(STAYS)
  })

  test('custom elements are not hidden by name', () => {
    expect(remove('<style>my-card{visibility:hidden}</style><p>seen</p> <my-card>hidden</my-card>')).toEqual(STAYS)
  })
})

describe('a page that a script reveals', () => {
  const text = 'word '.repeat(300)
  test.each([
    ['if its body is hidden', `<style>body{visibility:hidden}</style><body><p>${text}</p></body>`],
    [
      'if its root is hidden',
      `<style>.js-loading{display:none}</style><div class="js-loading"><h1>Title</h1><p>${text}</p></div>`,
    ],
    ['if its main element is hidden', `<style>main{visibility:hidden}</style><p>${text}${text}</p><main>Main</main>`],
    [
      'if a rule hides most of its parts',
      `<p>seen</p><style>.part{visibility:hidden}</style>${`<p class="part">${text}</p>`.repeat(3)}`,
    ],
    ['if a style attribute hides its body', `<body style="display:none"><p>${text}</p></body>`],
    ['if most of its parts are transparent', `<p>seen</p>${`<div style="opacity:0">${text}</div>`.repeat(3)}`],
  ])('is kept %s', (_, html) => {
    expect(remove(html).hiddenChars).toBe(0)
  })

  test('is not a page with one element that hides a long text', () => {
    expect(remove(`<p>${text}</p><div style="display:none">${text}${text}</div>`).hiddenChars).toBe(2999)
  })
})

describe('elements that are never text', () => {
  test('are dropped and not counted', () => {
    expect(
      remove('<head><title>t</title></head><body>seen<script>a</script><style>b</style><template>c</template></body>'),
    ).toEqual({ text: 'seen', hiddenChars: 0 })
  })

  test('include noscript, unless it holds most of the text', () => {
    expect(remove('<p>seen</p><noscript>Enable scripts, or '.concat('go on. </noscript>')).text).not.toBe('seen')
    expect(remove(`<p>${'seen '.repeat(100)}</p><noscript>Enable scripts</noscript>`).text).not.toContain('Enable')
  })
})

test('the removal of hidden elements never fails, whatever the tags and styles', () => {
  const part = fc.constantFrom(
    ...[
      '<style>',
      '</style>',
      '<p class=a style="',
      '">',
      '{',
      '}',
      '.a',
      ':',
      ';',
      '"',
      "'",
      '/*',
      '*/',
      'display:none',
    ],
    ...[
      '@media',
      'url(',
      ')',
      '\\',
      ',',
      '<div hidden>',
      '</div>',
      'text',
      '<noscript>',
      '<template>',
      '[hidden]',
      '#',
      ' ',
    ],
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      expect(remove(parts.join('')).hiddenChars).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: 500 },
  )
})
