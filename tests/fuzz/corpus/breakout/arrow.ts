return 1;
}); evil(); (async()=>{