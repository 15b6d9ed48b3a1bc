from lamp import Lamp
app = Lamp()

print(app)
