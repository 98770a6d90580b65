import Link from 'next/link'
import type { ReactNode } from 'react'
import { UserMenu } from '../components/user-menu'
import './style.css'

export const metadata = {
  title: 'Oak & Lamp',
  description: 'A shop on Next, tRPC and a gateway, in one clustered server',
}

export default function RootLayout({ children }: { children: ReactNode }): ReactNode {
  return (
    <html lang="en">
      <body>
        <header>
          <Link href="/" className="brand">
            Oak &amp; Lamp
          </Link>
          <nav>
            <Link href="/catalog">Catalog</Link>
            <Link href="/handbook" prefetch={false}>
              Handbook
            </Link>
            <Link href="/dashboard" prefetch={false}>
              Dashboard
            </Link>
          </nav>
          <UserMenu />
        </header>
        <main>{children}</main>
      </body>
    </html>
  )
}
