// Sums up sales by region. Types are taken off before it runs; lines and columns stay.
interface Sale {
  region: string;
  amount: number;
}

const sales: Sale[] = [
  { region: 'north', amount: 120 },
  { region: 'south', amount: 80 },
  { region: 'north', amount: 60 },
];

const totals = new Map<string, number>();
for (const { region, amount } of sales) {
  totals.set(region, (totals.get(region) ?? 0) + amount);
}

console.log('counted', sales.length, 'sales in', totals.size, 'regions');

return Object.fromEntries(totals);
