interface Order {
  id: string
  number: number
  status: string
  placedAt: string
  shippedAt: string | null
  customer: {
    id: number
    name: string
    email: string
    newsletter: boolean
    address: { street: string; city: string; postcode: string; country: string }
  }
  items: { sku: string; title: string; quantity: number; unitPrice: number; gift: boolean }[]
  currency: string
  shipping: number
  discount: number | null
  total: number
  paid: boolean
}

/**
 * The response to `GET /json`: an order of a shop.
 *
 * Every server serializes it for each request. The schema in `fastify-schema.ts` has the keys in the same order, so that
 * the bytes are equal.
 */
export const order: Order = {
  id: 'ord_8f14e45fceea',
  number: 100482,
  status: 'processing',
  placedAt: '2026-03-14T09:26:53.589Z',
  shippedAt: null,
  customer: {
    id: 7731,
    name: 'Zoë Müller',
    email: 'zoe.mueller@example.com',
    newsletter: false,
    address: { street: 'Lindenstraße 12', city: 'Köln', postcode: '50674', country: 'DE' },
  },
  items: [
    { sku: 'KB-104-DE', title: 'Mechanical keyboard', quantity: 1, unitPrice: 129.9, gift: false },
    { sku: 'CB-USBC-2', title: 'USB-C cable, 2 m', quantity: 3, unitPrice: 9.95, gift: false },
    { sku: 'MG-404-WH', title: 'Mug "Not Found"', quantity: 2, unitPrice: 12.5, gift: true },
  ],
  currency: 'EUR',
  shipping: 4.99,
  discount: null,
  total: 189.74,
  paid: true,
}
