import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeHtml, decodePlain } from './decode-html.ts'

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

describe('the encoding of a document', () => {
  test.each([
    ['a byte order mark of UTF-8, before all else', '\xef\xbb\xbf<p>\xc3\xa9', 'text/html; charset=iso-8859-1', '<p>é'],
    ['a byte order mark of UTF-16LE', '\xff\xfe<\0p\0>\0\xe9\0', 'text/html; charset=utf-8', '<p>é'],
    ['a byte order mark of UTF-16BE', '\xfe\xff\0<\0p\0>\0\xe9', '', '<p>é'],
    [
      'the content-type header, before the document',
      '<meta charset=utf-8>\xe9',
      'text/html;charset="ISO-8859-1"',
      '<meta charset=utf-8>é',
    ],
    [
      'meta charset in the document',
      '<meta charset="windows-1251">\xe0',
      'text/html',
      '<meta charset="windows-1251">а',
    ],
    [
      'meta http-equiv in the document',
      "<META content='text/html; charset=koi8-r' http-equiv=Content-Type>\xc1",
      '',
      "<META content='text/html; charset=koi8-r' http-equiv=Content-Type>а",
    ],
    [
      'the XML declaration of XHTML',
      '<?xml version="1.0" encoding="windows-1251"?>\xe0',
      '',
      '<?xml version="1.0" encoding="windows-1251"?>а',
    ],
  ])('comes from %s', (_, source, contentType, expected) => {
    expect(decodeHtml(bytes(source), contentType)).toBe(expected)
  })

  test.each([
    [
      'an unknown label in the content-type header',
      '<meta charset=windows-1251>\xe0',
      'text/html; charset=klingon',
      'а',
    ],
    ['an unknown label in the document', '<meta charset=klingon><meta charset=windows-1251>\xe0', '', 'а'],
    ['a declaration in a comment', '<!-- <meta charset=koi8-r> --><meta charset=windows-1251>\xe0', '', 'а'],
    [
      'a declaration in an attribute of another tag',
      '<a title="<meta charset=koi8-r>"><meta charset=windows-1251>\xe0',
      '',
      'а',
    ],
    [
      'the content of a meta element without http-equiv',
      '<meta name=x content="charset=koi8-r"><meta charset=windows-1251>\xe0',
      '',
      'а',
    ],
    ['a declaration after 4,096 bytes', `${' '.repeat(5000)}<meta charset=windows-1251>\xe0`, '', 'à'],
  ])('does not come from %s', (_, source, contentType, end) => {
    expect(decodeHtml(bytes(source), contentType).endsWith(end)).toBe(true)
  })

  test.each([
    ['utf-16', '\xc3\xa9', 'é'],
    ['utf-16be', '\xc3\xa9', 'é'],
    ['x-user-defined', '\x80', '€'],
    ['latin1', '\x80\x92\xe9', '€’é'],
    ['us-ascii', '\x9f', 'Ÿ'],
  ])('the label %s in a document means the same encoding as in browsers', (label, source, expected) => {
    const declaration = `<meta charset=${label}>`
    expect(decodeHtml(bytes(declaration + source), '')).toBe(declaration + expected)
  })

  test('bytes that are not in the encoding become U+FFFD', () => {
    expect(decodeHtml(bytes('a\xe9b'), 'text/html; charset=utf-8')).toBe('a\ufffdb')
  })

  test('a string is not decoded, and only its byte order mark is removed', () => {
    expect(decodeHtml('\ufeff<p>é', 'text/html; charset=koi8-r')).toBe('<p>é')
  })

  test('a declaration in plain text is ignored', () => {
    expect(decodePlain(bytes('Write `<meta charset=koi8-r>`: caf\xc3\xa9'), 'text/plain')).toBe(
      'Write `<meta charset=koi8-r>`: café',
    )
  })
})

describe('an undeclared encoding', () => {
  // The text of a page, and its bytes as Python encodes them.
  test.each([
    [
      'Shift_JIS',
      '<title>日本語のページ</title><p>これは日本語で書かれたテスト用の文章です。文字コードを正しく判定できるかどうかを確認します。</p>',
      '3c7469746c653e93fa967b8cea82cc8379815b83573c2f7469746c653e3c703e82b182ea82cd93fa967b8cea82c58f9182a982ea82bd836583588367977082cc95b68fcd82c582b7814295b68e9a8352815b836882f090b382b582ad94bb92e882c582ab82e982a982c782a482a982f08a6d944682b582dc82b781423c2f703e',
    ],
    [
      'EUC-JP',
      '<title>日本語のページ</title><p>これは日本語で書かれたテスト用の文章です。文字コードを正しく判定できるかどうかを確認します。</p>',
      '3c7469746c653ec6fccbdcb8eca4cea5daa1bca5b83c2f7469746c653e3c703ea4b3a4eca4cfc6fccbdcb8eca4c7bdf1a4aba4eca4bfa5c6a5b9a5c8cdd1a4cecab8becfa4c7a4b9a1a3cab8bbfaa5b3a1bca5c9a4f2c0b5a4b7a4afc8bdc4eaa4c7a4ada4eba4aba4c9a4a6a4aba4f2b3cec7a7a4b7a4dea4b9a1a33c2f703e',
    ],
    [
      'GB18030',
      '<title>中文网页</title><p>这是一个用来测试的中文网页,我们要看它的编码是不是可以正确地识别出来。他说你们都在这里工作。</p>',
      '3c7469746c653ed6d0cec4cdf8d2b33c2f7469746c653e3c703ed5e2cac7d2bbb8f6d3c3c0b4b2e2cad4b5c4d6d0cec4cdf8d2b32cced2c3c7d2aabfb4cbfcb5c4b1e0c2ebcac7b2bbcac7bfc9d2d4d5fdc8b7b5d8cab6b1f0b3f6c0b4a1a3cbfbcbb5c4e3c3c7b6bcd4dad5e2c0efb9a4d7f7a1a33c2f703e',
    ],
    [
      'Big5',
      '<title>中文網頁</title><p>這是一個用來測試的中文網頁,我們要看它的編碼是不是可以正確地識別出來。他說你們都在這裡工作。</p>',
      '3c7469746c653ea4a4a4e5baf4adb63c2f7469746c653e3c703eb36fac4fa440add3a5cea8d3b4fab8d5aabaa4a4a4e5baf4adb62ca7daadccad6eacdda5a6aababd73bd58ac4fa4a3ac4fa569a548a5bfbd54a661c3d1a74fa558a8d3a143a54cbba1a741adccb3a3a662b36fb8cca475a740a1433c2f703e',
    ],
    [
      'EUC-KR',
      '<title>한국어 페이지</title><p>이것은 문자 인코딩을 시험하기 위한 한국어 문장입니다. 올바르게 판별되는지 확인합니다.</p>',
      '3c7469746c653ec7d1b1b9beee20c6e4c0ccc1f63c2f7469746c653e3c703ec0ccb0cdc0ba20b9aec0da20c0cec4dab5f9c0bb20bdc3c7e8c7cfb1e220c0a7c7d120c7d1b1b9beee20b9aec0e5c0d4b4cfb4d92e20bfc3b9d9b8a3b0d420c6c7bab0b5c7b4c2c1f620c8aec0cec7d5b4cfb4d92e3c2f703e',
    ],
    [
      'windows-1251',
      '<title>Русская страница</title><p>Это русский текст для проверки кодировки. Мы хотим знать, правильно ли она определяется.</p>',
      '3c7469746c653ed0f3f1f1eae0ff20f1f2f0e0ede8f6e03c2f7469746c653e3c703eddf2ee20f0f3f1f1eae8e920f2e5eaf1f220e4ebff20eff0eee2e5f0eae820eaeee4e8f0eee2eae82e20ccfb20f5eef2e8ec20e7ede0f2fc2c20eff0e0e2e8ebfcedee20ebe820eeede020eeeff0e5e4e5ebffe5f2f1ff2e3c2f703e',
    ],
    [
      'KOI8-R',
      '<title>Русская страница</title><p>Это русский текст для проверки кодировки. Мы хотим знать, правильно ли она определяется.</p>',
      '3c7469746c653ef2d5d3d3cbc1d120d3d4d2c1cec9c3c13c2f7469746c653e3c703efcd4cf20d2d5d3d3cbc9ca20d4c5cbd3d420c4ccd120d0d2cfd7c5d2cbc920cbcfc4c9d2cfd7cbc92e20edd920c8cfd4c9cd20dacec1d4d82c20d0d2c1d7c9ccd8cecf20ccc920cfcec120cfd0d2c5c4c5ccd1c5d4d3d12e3c2f703e',
    ],
    [
      'windows-1252',
      '<title>Page française</title><p>Voilà un texte écrit en français, où l’on a été très attentif à l’été “doré”. Ça ira.</p>',
      '3c7469746c653e50616765206672616ee7616973653c2f7469746c653e3c703e566f696ce020756e20746578746520e96372697420656e206672616ee76169732c206ff9206c926f6e206120e974e9207472e87320617474656e74696620e0206c92e974e92093646f72e9942e20c761206972612e3c2f703e',
    ],
    [
      'windows-1252',
      '<title>Größe</title><p>Schöne Grüße aus München, überall ist es schön.</p>',
      '3c7469746c653e4772f6df653c2f7469746c653e3c703e536368f66e65204772fcdf6520617573204dfc6e6368656e2c20fc626572616c6c2069737420657320736368f66e2e3c2f703e',
    ],
    [
      'UTF-8',
      '<title>日本語のページ</title><p>これは日本語で書かれたテスト用の文章です。文字コードを正しく判定できるかどうかを確認します。</p>',
      '3c7469746c653ee697a5e69cace8aa9ee381aee3839ae383bce382b83c2f7469746c653e3c703ee38193e3828ce381afe697a5e69cace8aa9ee381a7e69bb8e3818be3828ce3819fe38386e382b9e38388e794a8e381aee69687e7aba0e381a7e38199e38082e69687e5ad97e382b3e383bce38389e38292e6ada3e38197e3818fe588a4e5ae9ae381a7e3818de3828be3818be381a9e38186e3818be38292e7a2bae8aa8de38197e381bee38199e380823c2f703e',
    ],
    [
      'UTF-16LE',
      '<title>Page française</title><p>Voilà un texte écrit en français, où l’on a été très attentif à l’été “doré”. Ça ira.</p>',
      '3c007400690074006c0065003e00500061006700650020006600720061006e00e70061006900730065003c002f007400690074006c0065003e003c0070003e0056006f0069006c00e000200075006e002000740065007800740065002000e9006300720069007400200065006e0020006600720061006e00e7006100690073002c0020006f00f90020006c0019206f006e00200061002000e9007400e900200074007200e8007300200061007400740065006e007400690066002000e00020006c001920e9007400e90020001c2064006f007200e9001d202e002000c700610020006900720061002e003c002f0070003e00',
    ],
    [
      'UTF-16BE',
      '<title>日本語のページ</title><p>これは日本語で書かれたテスト用の文章です。文字コードを正しく判定できるかどうかを確認します。</p>',
      '003c007400690074006c0065003e65e5672c8a9e306e30da30fc30b8003c002f007400690074006c0065003e003c0070003e3053308c306f65e5672c8a9e306766f8304b308c305f30c630b930c87528306e65877ae030673059300265875b5730b330fc30c930926b633057304f52245b9a3067304d308b304b30693046304b309278ba8a8d3057307e30593002003c002f0070003e',
    ],
  ])('is detected: %s', (_, text, hex) => {
    expect(decodeHtml(fromHex(hex), 'text/html')).toBe(text)
  })

  test('is detected as UTF-8 even if the body is truncated within a character', () => {
    expect(decodeHtml(bytes('<p>caf\xc3\xa9 \xe2\x82'), '')).toBe('<p>café \ufffd')
  })
})

test('decoding never fails, whatever the bytes and the content-type', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (body, contentType) => {
      expect(typeof decodeHtml(body, contentType)).toBe('string')
    }),
  )
})
