/* The rules of HTML for element names, in one place. All names are in lower case. */

function names(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}

/** Elements within a line of text. All others count as blocks. */
export const INLINE_ELEMENTS: ReadonlySet<string> = names(
  `a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark nobr q rp rt ruby s samp
  small span strike strong sub sup time tt u var wbr`,
)

/** Elements without content, which have no end tag. */
export const VOID_ELEMENTS: ReadonlySet<string> = names(
  `area base basefont bgsound br col command embed frame hr image img input isindex keygen link meta param source track
  wbr`,
)

/** SVG and MathML, which have their own parsing rules. */
export const FOREIGN: ReadonlySet<string> = names('svg math')

/** Elements that end SVG and MathML wherever they occur, as in a browser. */
export const BREAKOUT: ReadonlySet<string> = names(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr
  ol p pre ruby s small span strong strike sub sup table tt u ul var`,
)

/** Elements that are not allowed in a paragraph and so end an open one. */
export const PARAGRAPH_ENDING_ELEMENTS: ReadonlySet<string> = names(
  `address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3
  h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp`,
)

export const HEADINGS: ReadonlySet<string> = names('h1 h2 h3 h4 h5 h6')

/** Elements around the content of a page. */
export const CHROME_ELEMENTS: ReadonlySet<string> = names('nav header footer aside')

/** Elements that are allowed in the head of a document. */
export const METADATA_ELEMENTS: ReadonlySet<string> = names(
  'base basefont bgsound link meta noframes noscript script style template title',
)
