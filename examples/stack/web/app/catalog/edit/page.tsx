import type { ReactNode } from 'react'
import { products } from '../../../catalog'
import { changePrice } from './actions'

export default async function EditCatalog(): Promise<ReactNode> {
  const all = await products()
  return (
    <>
      <h1>Change prices</h1>
      <ul className="cards">
        {all.map(({ id, name, price }) => (
          <li key={id}>
            <form action={changePrice}>
              <input type="hidden" name="id" value={id} />
              <label>
                {name}, in euros
                <input
                  name="euros"
                  type="number"
                  min="0.01"
                  step="0.01"
                  defaultValue={(price / 100).toFixed(2)}
                  required
                />
              </label>
              <button type="submit">Save</button>
            </form>
          </li>
        ))}
      </ul>
    </>
  )
}
