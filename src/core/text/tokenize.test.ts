import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { isStopWord } from './stop-words.ts'
import { dropJoiners, MAX_TOKEN_UNITS, shortForms, tokenize, visitTokens } from './tokenize.ts'

describe('words and numbers', () => {
  test.each([
    ['The quick brown fox.', 'the quick brown fox'],
    ['end. Next... Last!', 'end next last'],
    ['error 404, in 2025', 'error 404 in 2025'],
    ["the user's files, the users' files", 'the user files the users files'],
    ["I don't; we're, they'll CAN'T", 'i dont we they cant'],
    ["l'eau O’Reilly’s", 'l eau o reilly'],
    ['https://example.com/a/b?q=1', 'https example.com example com a b q 1'],
    ['.gitignore $scope @Component #include', 'gitignore scope component include'],
    ['', ''],
    [' \t\n-–—…«»', ''],
  ])('%j gives the tokens %j', (text, tokens) => {
    expect(tokenize(text).join(' ')).toBe(tokens)
  })
})

describe('identifiers, whole and in parts', () => {
  test.each([
    ['readFileSync', 'readfilesync read file sync'],
    ['jsonb_array_elements', 'jsonb_array_elements jsonb array elements'],
    ['asyncio.timeout', 'asyncio.timeout asyncio timeout'],
    ['--max-pages', 'max-pages max pages'],
    ['std::vector', 'std::vector std vector'],
    ['HTTPServer', 'httpserver http server'],
    ['fs.readFileSync(path)', 'fs.readfilesync fs readfilesync read file sync path'],
    ['__init__', '__init__ init'],
    [
      'utf8Decode HTML5Parser x86Assembler',
      'utf8decode utf8 utf decode html5parser html5 html parser x86assembler x86 assembler',
    ],
    ['MAX_VALUE', 'max_value max value'],
    ['МирТруд', 'миртруд мир труд'],
    ['C++ and C#, F#; g++', 'c++ and c# f# g++'],
    ['a+b c#d x+++y', 'a b c d x y'],
  ])('%j gives the tokens %j', (text, tokens) => {
    expect(tokenize(text).join(' ')).toBe(tokens)
  })

  test.each(['API', 'APIs', 'I18N', 'Word', 'eBay', 'x86', 'v2', 'A4', 'a1b2c3', 'abc12345'])(
    'does not split %j',
    (word) => {
      expect(tokenize(word)).toEqual([word.toLowerCase()])
    },
  )

  test.each([
    ['OAuth2 OAuth', 'oauth2 oauth auth oauth auth'],
    ['OAuth2Client', 'oauth2client oauth2 oauth auth client'],
    ['IPv6 ipv6', 'ipv6 ipv ipv6 ipv'],
    ['iPhone', 'iphone phone'],
    ['IEnumerable xAxis', 'ienumerable enumerable xaxis axis'],
  ])('a leading letter is not a part of its own: %j', (text, tokens) => {
    expect(tokenize(text).join(' ')).toBe(tokens)
  })

  test.each([
    ['sha256 SHA256', 'sha256 sha sha256 sha'],
    ['lib.sha256', 'lib.sha256 lib sha256 sha'],
    ['python3_config', 'python3_config python3 python config'],
  ])('a word that ends in a number is also given without it: %j', (text, tokens) => {
    expect(tokenize(text).join(' ')).toBe(tokens)
  })

  test.each([
    ['HTTP/2, h2', 'http http2 2 h2'],
    ['(HTTP/2.)', 'http http2 2'],
    ['HTTP/1.1', 'http 1.1'],
    ['docs/2/x', 'docs 2 x'],
    ['posts/2024', 'posts 2024'],
    ['1/2', '1 2'],
    ['a.b/2', 'a.b a b 2'],
  ])('joins the number of a protocol to its name, and no other numbers: %j', (text, tokens) => {
    expect(tokenize(text).join(' ')).toBe(tokens)
  })

  test.each(['foo::', 'foo-', 'foo.', '-foo', '::foo', 'foo--', '. foo'])('ignores a joiner at an edge: %j', (text) => {
    expect(tokenize(text)).toEqual(['foo'])
  })
})

describe('versions, whole and by their beginnings', () => {
  test.each([
    ['3.11', '3.11'],
    ['Python 3.11.4.', 'python 3.11.4 3.11'],
    ['v2.0', 'v2.0 2.0'],
    ['python3.11', 'python3.11 python 3.11'],
    ['1.0.0-beta.1', '1.0.0-beta.1 1.0.0 1.0 beta 1'],
    ['10.0.0.1', '10.0.0.1 10.0 10.0.0'],
    ['2024-01-15', '2024-01-15 2024 01 15'],
  ])('%j gives the tokens %j', (text, tokens) => {
    expect(tokenize(text).join(' ')).toBe(tokens)
  })
})

describe('scripts', () => {
  test.each([
    ['Café NAÏVE Ærø', 'cafe naive aero'],
    ['cafe\u0301', 'cafe'],
    ['Straße STRASSE', 'strasse strasse'],
    ['ΣΟΦΟΣ σοφός', 'σοφοσ σοφόσ'],
    ['İstanbul ISTANBUL', 'istanbul istanbul'],
    ['ｆｕｌｌ ﬁne ２０２５', 'full fine 2025'],
    ['soft\u00adhyphen', 'softhyphen'],
    ['Ёлка йод', 'ёлка йод'],
    ['हिन्दी में', 'हिन्दी में'],
    ['שָׁלוֹם العربية', 'שָׁלוֹם'.normalize('NFKC').concat(' العربية')],
    ['東京都', '東京 京都'],
    ['京', '京'],
    ['𠮷野家', '𠮷野 野家'],
    ['ひらがなカタカナ', 'ひら らが がな なカ カタ タカ カナ'],
    ['データー', 'デー ータ ター'],
    ['한국어 문서', '한국 국어 문서'],
    ['ไทย', 'ไท ทย'],
    ['iPhone手机3月', 'iphone phone 手机 3 月'],
    ['😀 smile', 'smile'],
  ])('%j gives the tokens %j', (text, tokens) => {
    expect(tokenize(text).join(' ')).toBe(tokens)
  })

  test.each([
    ['東京', ['東', '京']],
    ['𠮷野', ['𠮷', '野']],
    ['人人', ['人']],
    ['京', []],
    ['東京都', []],
    ['ab', []],
    ['é', []],
    ['', []],
  ])('the short forms of %j are %j', (token, forms) => {
    expect(shortForms(token)).toEqual(forms)
  })
})

describe('joiners', () => {
  test.each([
    ['utf-8', 'utf8'],
    ['node.js', 'nodejs'],
    ['max_pages', 'maxpages'],
    ['std::vector', 'stdvector'],
    ['os.path.read_file', 'ospathreadfile'],
    ['plain', 'plain'],
    ['3.11', '3.11'],
    ['2024-01-15', '2024-01-15'],
    ['v2.0-beta', 'v2.0-beta'],
    ['__init__', '__init__'],
    ['_private_name', '_private_name'],
  ])('dropping them from %j gives %j', (token, joined) => {
    expect(dropJoiners(token)).toBe(joined)
  })
})

describe('any input', () => {
  test('a long run is cut to its beginning, in text and query alike', () => {
    const run = 'QmFzZTY0'.repeat(1000)
    expect(tokenize(run)).toEqual([run.toLowerCase().slice(0, MAX_TOKEN_UNITS)])
  })

  test('a cut does not split a surrogate pair', () => {
    const [token] = tokenize(`a${'𝔸𐐀'.repeat(40)}`)
    expect(token?.isWellFormed()).toBe(true)
  })

  test('each word of a long name is a token', () => {
    const words = Array.from({ length: 30 }, (_, i) => `word${'x'.repeat(i)}`)
    expect(tokenize(words.join('_')).slice(1)).toEqual(words)
  })

  test('gives the same non-empty, bounded, well-formed tokens every time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const tokens = tokenize(text)
        expect(tokenize(text)).toEqual(tokens)
        for (const token of tokens) {
          expect(token.length).toBeGreaterThan(0)
          expect(token.length).toBeLessThanOrEqual(MAX_TOKEN_UNITS)
          expect(token.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  test('tokenizing a token again gives the same token', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 50 }), (text) => {
        for (const token of tokenize(text)) expect(tokenize(token)).toContain(token)
      }),
    )
  })

  test('passes the position of each token in the text', () => {
    const text = 'fs.readFileSync 東京都 Café'
    visitTokens(text, (source, start, end, at) => {
      expect(
        text
          .slice(at, at + end - start)
          .toLowerCase()
          .normalize('NFD')
          .replace(/\p{M}/gu, ''),
      ).toBe(source.slice(start, end))
    })
  })

  test.each([
    ['dots', '.', 1_000_000],
    ['underscores', '_', 1_000_000],
    ['dotted letters', 'a.', 500_000],
    ['dotted numbers', '1.', 500_000],
    ['hyphened versions', '1-1.', 250_000],
    ['words in snake case', 'a_', 500_000],
    ['words in camel case', 'aB', 500_000],
    ['apostrophes', "a'", 500_000],
    ['plus signs', 'a++', 300_000],
    ['colons', 'a::', 300_000],
    ['marks out of order', '\u0301\u0316', 500_000],
    ['lone surrogates', '\ud800', 1_000_000],
    ['ideographs', '東', 1_000_000],
    ['numbered words', 'ab1', 300_000],
    ['slashed numbers', 'ab/1', 250_000],
    ['one line of words', 'lorem ipsum ', 400_000],
  ])('takes linear time on %s', (_, unit, count) => {
    let tokens = 0
    const ms = cpuMsOf(() => visitTokens(unit.repeat(count), () => tokens++))
    expect(tokens).toBeLessThanOrEqual(unit.length * count + 1)
    expect(ms).toBeLessThan(10_000)
  })
})

test.each(['the', 'of', 'dont', 'which', 'for', 'let', 'while'])('%s is a stop word', (word) => {
  expect(isStopWord(word)).toBe(true)
})

test.each(['function', 'new', 'use', 'error', '', 'THE'])('%j is not a stop word', (word) => {
  expect(isStopWord(word)).toBe(false)
})
