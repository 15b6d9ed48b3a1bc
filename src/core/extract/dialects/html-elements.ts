/** The elements of HTML, and obsolete ones that browsers still know. Any other name in Markdown is a component, or not a tag. */
export const HTML_ELEMENTS: ReadonlySet<string> = new Set(
  `a abbr address area article aside audio b base bdi bdo big blockquote body br button canvas caption center cite code col colgroup
  data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header
  hgroup hr html i iframe img input ins kbd label legend li link main map mark menu meta meter nav nobr noscript object ol optgroup
  option output p param picture pre progress q rp rt ruby s samp script search section select small source span strike strong style sub
  summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr`.split(
    /\s+/,
  ),
)

/** Elements that need not be closed. */
export const OPTIONAL_END_TAGS: ReadonlySet<string> = new Set(
  'p dd dt td th tr tbody thead option body html'.split(' '),
)
