export interface Product {
  readonly id: string
  readonly name: string
  /** In cents. */
  readonly price: number
}

const url = (path: string): string => `${process.env['CATALOG_URL']}${path}`

/** Cached by Next until the tag `catalog` is revalidated. */
export async function products(): Promise<Product[]> {
  const response = await fetch(url('/products'), { next: { tags: ['catalog'] } })
  if (!response.ok) throw new Error(`The catalog responded ${response.status}.`)
  return (await response.json()) as Product[]
}

export async function setPrice(id: string, price: number): Promise<void> {
  const response = await fetch(url(`/products/${encodeURIComponent(id)}/price`), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ price }),
  })
  if (!response.ok) throw new Error(`The catalog responded ${response.status}.`)
}

export function inEuros(cents: number): string {
  return new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' }).format(cents / 100)
}
