from lamp import Lamp

app = Lamp()


@app.get("/")
async def root():
    return {"message": "Hello"}
