import { InvalidArgumentError } from 'commander'

/** `5%` as 0.05. */
export function percentage(text: string): number {
  const [, digits] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? []
  const share = Number(digits) / 100
  if (!(share > 0 && share < 1)) throw new InvalidArgumentError('Expected a percentage above 0%, such as 5%.')
  return share
}
