// A mistake that is made often: the promise is not awaited. The error shows where, and what to do.
async function loadNames(): Promise<string[]> {
  return ['ada', 'grace'];
}

const names: any = loadNames();
return names.map((name: string) => name.toUpperCase());
