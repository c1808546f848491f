/** The fractional parts of the square (or cube) roots of the first primes, as 32 bits (FIPS 180-4, 4.2.2 and 5.3.3). */
function roots(count: number, power: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every(prime => candidate % prime !== 0)) primes.push(candidate)
  }
  return primes.map(prime => ((prime ** (1 / power) % 1) * 2 ** 32) | 0)
}

const ROUNDS = roots(64, 3)

/** The SHA-256 of a text in UTF-8, in hexadecimal digits. The engine has no digest of its own. Throws URIError. */
export function sha256(text: string): string {
  const words = padded(utf8(text))
  let state = roots(8, 2)
  for (let at = 0; at < words.length; at += 16) state = compressed(state, words.slice(at, at + 16))
  return state.map(word => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function utf8(text: string): number[] {
  const pieces = encodeURIComponent(text).match(/%..|./g) ?? []
  return pieces.map(piece => (piece.length === 3 ? parseInt(piece.slice(1), 16) : piece.charCodeAt(0)))
}

function padded(bytes: readonly number[]): number[] {
  const length = (((bytes.length + 8) >> 6) + 1) * 16
  const words = new Array<number>(length).fill(0)
  ;[...bytes, 0x80].forEach((byte, at) => {
    words[at >> 2] = (words[at >> 2] ?? 0) | (byte << (24 - 8 * (at % 4)))
  })
  words[length - 1] = bytes.length * 8
  return words
}

function compressed(state: readonly number[], block: readonly number[]): number[] {
  const words = [...block]
  const at = (index: number): number => words[index] ?? 0
  for (let t = 16; t < 64; t++) {
    const low = turned(at(t - 15), 7) ^ turned(at(t - 15), 18) ^ (at(t - 15) >>> 3)
    const high = turned(at(t - 2), 17) ^ turned(at(t - 2), 19) ^ (at(t - 2) >>> 10)
    words.push((at(t - 16) + low + at(t - 7) + high) | 0)
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let t = 0; t < 64; t++) {
    const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + (ROUNDS[t] ?? 0) + at(t)
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    ;[a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g]
  }
  return [a, b, c, d, e, f, g, h].map((word, index) => (word + (state[index] ?? 0)) | 0)
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}
