/**
 * English words that carry no topic. Contractions are listed as the tokenizer writes them (`dont`). Nouns, verbs and adjectives of
 * technical text (`function`, `use`, `new`, `first`) are not listed. Function words are, even if they are keywords of programming languages
 * (`for`, `if`, `let`, `this`, `while`, `with`): in queries they are mostly English, and a query that has only stop words keeps them.
 */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also although am among an and any are arent as at
  be because been before being below between both but by
  can cannot cant could couldnt
  did didnt do does doesnt doing dont down during
  each either ever every few for from further
  had hadnt has hasnt have havent having he her here hers herself him himself his how however
  i if in into is isnt it its itself just
  let may me might more most much must mustnt my myself
  neither no nor not of off on once only onto or other ought our ours ourselves out over own
  per perhaps please quite rather really
  same shall shant she should shouldnt since so some such
  than that the their theirs them themselves then there therefore these they this those though through thus to too
  under until up upon us very via
  was wasnt we were werent what when where whether which while who whom whose why will with within without wont
  would wouldnt yet you your yours yourself yourselves`.split(/\s+/),
)

/** Whether a token is an English stop word. */
export function isStopWord(token: string): boolean {
  return STOP_WORDS.has(token)
}
