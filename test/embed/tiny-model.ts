/** What the tiny model knows: a token is its number, and some words bring it down. */
const TINY_WORDS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'nine', 'crash', 'fail'] as const

/** The `tokenizer.json` of it. */
export const TINY_TOKENIZER: string = JSON.stringify({
  normalizer: { type: 'BertNormalizer', lowercase: true },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    vocab: Object.fromEntries(TINY_WORDS.map((word, i) => [word, i])),
  },
})

/** A runtime of a few lines that runs it, with two dimensions; it cannot be loaded while a file `broken` lies beside it. */
export const TINY_RUNTIME: string = `
const fs = require('node:fs')
if (fs.existsSync(__dirname + '/broken')) throw new Error('no such symbol\\nand a long story')
module.exports = {
  Tensor: class { constructor(type, data, dims) { Object.assign(this, { data, dims }) } },
  InferenceSession: {
    create: async () => ({
      inputNames: ['input_ids', 'attention_mask'],
      outputNames: ['last_hidden_state'],
      run: async ({ input_ids, ...others }) => {
        if (Object.keys(others).join() !== 'attention_mask') throw new Error('given what was not asked for')
        const ids = [...input_ids.data].map(Number)
        if (ids.includes(${TINY_WORDS.indexOf('crash')})) process.kill(process.pid, 'SIGKILL')
        if (ids.includes(${TINY_WORDS.indexOf('fail')})) throw new Error('this text is too much')
        return { last_hidden_state: { dims: [1, ids.length, 2], data: Float32Array.from(ids.flatMap((id) => [id, 1])) } }
      },
    }),
  },
}
`
