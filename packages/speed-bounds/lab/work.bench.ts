// Functions of the lab: each group has the same one twice, and one that does a twentieth more.

const numbers = Float64Array.from({ length: 1050 }, (_, index) => index % 97)
const text = (items: number): string =>
  JSON.stringify(Array.from({ length: items }, (_, id) => ({ id, name: `item ${id}`, tags: ['a', 'b'] })))
const [short, long] = [text(20), text(21)]

function sum(count: number): number {
  let total = 0
  for (let index = 0; index < count; index++) total += Math.sqrt(numbers[index]!)
  return total
}

async function steps(count: number): Promise<number> {
  let total = 0
  for (let index = 0; index < count; index++) total += await Promise.resolve(index)
  return total
}

export default {
  loop: { first: () => sum(1000), second: () => sum(1000), dearer: () => sum(1050) },
  json: { first: () => JSON.parse(short), second: () => JSON.parse(short), dearer: () => JSON.parse(long) },
  promises: { first: () => steps(20), second: () => steps(20), dearer: () => steps(21) },
}
